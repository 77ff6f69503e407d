import type { DeployedService, Deployment, ServiceStatus } from "../../../domain/deployment/deployment.ts";
import { instanceIdOf } from "../../../domain/deployment/instance_id.ts";
import { type Failure, invalid } from "../../../domain/failure.ts";
import type { LiveRelease } from "../../../ports/live_releases.ts";
import type { Instance } from "../../../ports/runtime.ts";
import { runnableOf } from "./release_folder.ts";
import { type Run, say, step, type StopReason, store } from "./run.ts";
import { publicAddresses, routeKey, routesTo, staticFolder } from "./serve.ts";

/** Often at first, as most programs are quick to listen. */
const LOOK_MS = { first: 5, last: 100 } as const;
const PROBE_MS = 2_000;
const DRAIN_MS = 30_000;
/** How long the edges of other processes may take to follow. */
const FOLLOW_MS = 1_000;
const STOP_GRACE_MS = 10_000;
const OUTPUT_LINES = 50;

/** Starts a release, waits until it answers and has stayed up, and moves traffic to it. */
export async function bringLive(run: Run): Promise<void> {
  if (await isServing(run)) await step(run, "switch", () => announce(run));
  else {
    await goBack(run);
    await step(run, "start", () => start(run));
    await step(run, "health", () => answer(run));
    await step(run, "switch", () => switchTraffic(run));
  }
  // From here on it serves: to cancel it comes too late.
  run.signal = withoutCancelling(run.signal);
}

/** Whether traffic was moved to it already. */
export async function isServing({ deployment, ports }: Run): Promise<boolean> {
  if (deployment.steps.some(({ name, status }) => name === "switch" && status === "done")) return true;
  return (await ports.liveReleases.among([deployment.id])).has(deployment.id);
}

/** Leaves traffic with whoever served before, and nothing of this deployment running. */
export async function goBack(run: Run): Promise<void> {
  const { deployment, ports, settings } = run;
  const former = await formerRelease(run);
  const routes = former ? await routesTo(ports, former.project, former.deployment, settings.baseDomain) : [];
  await ports.edge.switch(routeKey(deployment), routes);
  const own = (await ports.runtime.list()).filter(({ deploymentId }) => deploymentId === deployment.id);
  for (const { instanceId } of own) await ports.runtime.remove(instanceId, { graceMs: STOP_GRACE_MS });
}

function formerRelease({ deployment, ports }: Run): Promise<LiveRelease | undefined> {
  return deployment.environment === "preview"
    ? Promise.resolve(undefined)
    : ports.liveReleases.find(deployment.projectId);
}

function withoutCancelling(signal: AbortSignal): AbortSignal {
  const rest = new AbortController();
  const pass = () => (signal.reason as StopReason) !== "cancelled" && rest.abort(signal.reason);
  if (signal.aborted) pass();
  else signal.addEventListener("abort", pass, { once: true });
  return rest.signal;
}

async function start(run: Run): Promise<void> {
  const { deployment, environment } = run;
  const addresses = await publicAddresses(run.ports, run.project, deployment, run.settings.baseDomain);
  const urls = addresses.map(
    ({ hostname, pathPrefix }) => run.settings.edgeUrl(hostname) + (pathPrefix === "/" ? "" : pathPrefix),
  );
  if (deployment.plan.projectType === "static") {
    return storeService(run, { status: "starting", instanceId: null, error: null }, urls);
  }
  const runs = await runnableOf(run.ports, deployment);
  const instanceId = instanceIdOf(deployment, "app", runs.kind);
  await storeService(run, { status: "starting", instanceId, error: null }, urls);
  await run.ports.runtime.start({
    instanceId,
    deploymentId: deployment.id,
    projectId: deployment.projectId,
    service: "app",
    runs,
    environment,
  });
}

/** Waits until the release answers for the first time. */
async function answer(run: Run): Promise<void> {
  const { settings } = run;
  const instanceId = run.deployment.services[0]?.instanceId;
  if (!instanceId) return refuseEmptySite(run);
  const until = performance.now() + settings.healthMs;
  for (let waitMs: number = LOOK_MS.first; ; waitMs = Math.min(waitMs * 1.2, LOOK_MS.last)) {
    run.signal.throwIfAborted();
    const instance = await run.ports.runtime.find(instanceId);
    await refuseEnded(run, instance);
    if (instance && (await healthy(run, instance))) return say(run, "health", "It answers");
    if (performance.now() > until) {
      await showOutput(run, instanceId);
      throw unanswered(run, instance);
    }
    await pause(waitMs);
  }
}

function unanswered({ deployment, settings }: Run, instance: Instance | undefined): Failure {
  const { healthPath, port } = deployment.plan;
  const how = healthPath ?? (deployment.image === null ? "its port ($PORT)" : `its port (${port})`);
  const hint = instance?.relayed ? ". In a container a program has to listen on 0.0.0.0, not on 127.0.0.1" : "";
  const seconds = Math.round(settings.healthMs / 1000);
  return invalid("health_failed", `Cannot bring it live: it did not answer on ${how} within ${seconds} seconds${hint}`);
}

/** A site without a file would answer everything with "not found". */
async function refuseEmptySite(run: Run): Promise<void> {
  const { plan, artifactOf, id } = run.deployment;
  const root = staticFolder("", run.deployment);
  for await (const { path, type } of run.ports.releaseFolders.entries(artifactOf ?? id)) {
    if (type !== "folder" && (root === "" || path.startsWith(`${root}/`))) return;
  }
  throw invalid(
    "output_missing",
    `Cannot serve this: there is no file in ${plan.outputDirectory ?? "it"}. Set outputDirectory to where the build leaves its result`,
  );
}

/** Moves traffic once the release has stayed up; one that replaces nothing gets it at once, as there is nobody to go back to. */
async function switchTraffic(run: Run): Promise<void> {
  const { projects } = run.ports;
  const { deployment, project } = run;
  const former = await formerRelease(run);
  if (!former) await route(run);
  await stayUp(run);
  run.signal.throwIfAborted();
  await storeService(run, { status: "healthy", error: null });
  if (deployment.environment === "preview") return;
  await projects.change(project.organizationId, project.id, {
    at: run.ports.clock.now(),
    change: () => ({ activeDeploymentId: deployment.id }),
  });
  await announce(run);
}

/** Leads visitors to the release, through the edges of all processes. */
async function announce(run: Run): Promise<void> {
  await route(run);
  await run.ports.liveReleases.announce(run.project.id);
}

async function route(run: Run): Promise<void> {
  const { deployment, ports, project, settings } = run;
  await ports.edge.switch(routeKey(deployment), await routesTo(ports, project, deployment, settings.baseDomain));
}

/** Watches the release for a while. */
async function stayUp(run: Run): Promise<void> {
  const instanceId = run.deployment.services[0]?.instanceId;
  if (!instanceId) return;
  const { restarts = 0 } = (await run.ports.runtime.find(instanceId)) ?? {};
  const until = performance.now() + run.settings.probationMs;
  while (performance.now() < until) {
    await pause(Math.min(250, run.settings.probationMs));
    run.signal.throwIfAborted();
    const instance = await run.ports.runtime.find(instanceId);
    await refuseEnded(run, instance);
    if (!instance || instance.restarts > restarts || !(await healthy(run, instance))) {
      await showOutput(run, instanceId);
      throw invalid("health_failed", "Cannot keep it live: it answered, and then it did not any more");
    }
  }
}

/** Stops what served before, once nobody is being answered by it. */
export async function retire(run: Run): Promise<void> {
  const { edge, runtime } = run.ports;
  const { deployment } = run;
  if (deployment.environment === "preview") return;
  const former = (await runtime.list()).filter(
    ({ projectId, deploymentId }) => projectId === deployment.projectId && deploymentId !== deployment.id,
  );
  for (const { instanceId, deploymentId } of former) {
    if (await isPreview(run, deploymentId)) continue;
    // Long answers and sockets may go on for a while; nobody has to wait for them. A killed server leaves this to the sweep.
    void pause(FOLLOW_MS)
      .then(() => edge.drained(deploymentId, DRAIN_MS))
      .then(() => runtime.remove(instanceId, { graceMs: STOP_GRACE_MS }))
      .catch(() => {});
  }
}

async function isPreview(run: Run, deploymentId: string): Promise<boolean> {
  return (await run.ports.deployments.get(deploymentId))?.environment === "preview";
}

/** A health path counts first, then what the image checks itself, then whether its port answers. */
async function healthy(run: Run, { health, host, port, relayed }: Instance): Promise<boolean> {
  const path = run.deployment.plan.healthPath;
  if (path === null && health !== null) return health === "healthy";
  return run.ports.healthProbe.answers({ host, port, path, relayed }, { timeoutMs: PROBE_MS });
}

async function refuseEnded(run: Run, instance: Instance | undefined): Promise<void> {
  if (instance && instance.status !== "exited") return;
  if (instance) await showOutput(run, instance.instanceId);
  const reason = instance?.exit?.reason;
  if (reason === "out_of_memory") throw invalid("out_of_memory", "Cannot bring it live: it ran out of memory");
  if (reason === "crash_loop")
    throw invalid(
      "crash_loop",
      `Cannot bring it live: it ended again and again, last with code ${instance?.exit?.code}`,
    );
  throw invalid(
    "start_failed",
    `Cannot bring it live: it ended${instance?.exit ? ` with code ${instance.exit.code}` : ""}`,
  );
}

/** Copies the end of what a program printed into the deployment's log, so that the reason stands where people look. */
async function showOutput(run: Run, instanceId: string): Promise<void> {
  const lines = await run.ports.runtime.output(instanceId, { since: 0, limit: 10_000 }).catch(() => []);
  for (const { message, stream } of lines.slice(-OUTPUT_LINES)) {
    await run.writer.line(message, { step: "health", service: "app", stream, level: "error" });
  }
}

async function storeService(run: Run, change: Partial<DeployedService>, urls?: readonly string[]): Promise<void> {
  const url = urls?.[0] ?? run.deployment.services[0]?.url ?? null;
  const known = run.deployment.services[0] ?? {
    name: "app",
    status: "pending" as ServiceStatus,
    url: null,
    error: null,
    instanceId: null,
  };
  const service = { ...known, url, ...change };
  const told = { type: "service", name: service.name, status: service.status, error: service.error } as const;
  await store(run, (deployment: Deployment) => ({ ...deployment, services: [service], ...(urls && { urls }) }), [told]);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
