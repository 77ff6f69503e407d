import type { DeployedService, Deployment, ServiceStatus } from "../../../domain/deployment/deployment.ts";
import { invalid } from "../../../domain/failure.ts";
import type { Instance } from "../../../ports/runtime.ts";
import { folderOf, workingFolder } from "./build_release.ts";
import { type Run, say, step, store } from "./run.ts";
import { publicAddresses, routeKey, routesTo } from "./serve.ts";

const LOOK_MS = 50;
const PROBE_MS = 2_000;
const DRAIN_MS = 30_000;
const STOP_GRACE_MS = 10_000;
const OUTPUT_LINES = 50;

/** Starts a release, waits until it answers, moves traffic to it, and gives the one before it up once the new one has stayed up. */
export async function bringLive(run: Run): Promise<void> {
  if (!isDone(run, "switch")) {
    await dropInstances(run);
    await step(run, "start", () => start(run));
    await step(run, "health", () => answer(run));
    await step(run, "switch", () => switchTraffic(run));
  }
  await step(run, "retire", () => retire(run));
}

function isDone({ deployment }: Run, name: string): boolean {
  return deployment.steps.some((known) => known.name === name && known.status === "done");
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
  const folder = await folderOf(run);
  const instanceId = `${deployment.id}-app-${deployment.attempts}`;
  await storeService(run, { status: "starting", instanceId, error: null }, urls);
  await run.ports.runtime.start({
    instanceId,
    deploymentId: deployment.id,
    projectId: deployment.projectId,
    service: "app",
    folder,
    workingFolder: workingFolder(folder, deployment),
    command: deployment.plan.startCommand ?? "",
    environment,
  });
}

/** Waits until the release answers for the first time. */
async function answer(run: Run): Promise<void> {
  const { settings } = run;
  const instanceId = run.deployment.services[0]?.instanceId;
  if (!instanceId) return;
  const until = performance.now() + settings.healthMs;
  for (;;) {
    run.signal.throwIfAborted();
    const instance = await run.ports.runtime.find(instanceId);
    await refuseEnded(run, instance);
    if (instance && (await healthy(run, instance))) return say(run, "health", "It answers");
    if (performance.now() > until) {
      await showOutput(run, instanceId);
      const how = run.deployment.plan.healthPath ?? "its port ($PORT)";
      throw invalid(
        "health_failed",
        `Cannot bring it live: it did not answer on ${how} within ${Math.round(settings.healthMs / 1000)} seconds`,
      );
    }
    await pause(LOOK_MS);
  }
}

async function switchTraffic(run: Run): Promise<void> {
  const { edge, projects, liveReleases } = run.ports;
  const { deployment } = run;
  await edge.switch(routeKey(deployment), await routesTo(run.ports, run.project, deployment, run.settings.baseDomain));
  await stayUp(run);
  await storeService(run, { status: "healthy", error: null });
  if (deployment.environment === "preview") return;
  await projects.change(run.project.organizationId, run.project.id, {
    at: run.ports.clock.now(),
    change: () => ({ activeDeploymentId: deployment.id }),
  });
  await liveReleases.announce(run.project.id);
}

/** Watches the release for a while under traffic; whoever served before is still there to go back to. */
async function stayUp(run: Run): Promise<void> {
  const instanceId = run.deployment.services[0]?.instanceId;
  if (!instanceId) return;
  const until = performance.now() + run.settings.probationMs;
  while (performance.now() < until) {
    await pause(Math.min(250, run.settings.probationMs));
    run.signal.throwIfAborted();
    const instance = await run.ports.runtime.find(instanceId);
    await refuseEnded(run, instance);
    if (!instance || instance.restarts > 0 || !(await healthy(run, instance))) {
      await showOutput(run, instanceId);
      throw invalid("health_failed", "Cannot keep it live: it answered, and then it did not any more");
    }
  }
}

async function retire(run: Run): Promise<void> {
  const { edge, runtime } = run.ports;
  const { deployment } = run;
  if (deployment.environment === "preview") return;
  const former = (await runtime.list()).filter(
    ({ projectId, deploymentId }) => projectId === deployment.projectId && deploymentId !== deployment.id,
  );
  for (const { instanceId, deploymentId } of former) {
    if (await isPreview(run, deploymentId)) continue;
    // Long answers and sockets may go on for a while; nobody has to wait for them. A killed server leaves this to the sweep.
    void edge
      .drained(deploymentId, DRAIN_MS)
      .then(() => runtime.remove(instanceId, { graceMs: STOP_GRACE_MS }))
      .catch(() => {});
  }
}

async function isPreview(run: Run, deploymentId: string): Promise<boolean> {
  return (await run.ports.deployments.get(deploymentId))?.environment === "preview";
}

async function healthy(run: Run, { host, port }: Instance): Promise<boolean> {
  return run.ports.healthProbe.answers({ host, port, path: run.deployment.plan.healthPath }, { timeoutMs: PROBE_MS });
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
    void run.writer.line(message, { step: "health", service: "app", stream, level: "error" });
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

/** Removes what runs of a deployment. */
export async function dropInstances(run: Run): Promise<void> {
  const own = (await run.ports.runtime.list()).filter(({ deploymentId }) => deploymentId === run.deployment.id);
  for (const { instanceId } of own) await run.ports.runtime.remove(instanceId, { graceMs: STOP_GRACE_MS });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
