import { scopeOf } from "../../../../domain/deployments/release_scope.ts";
import type { Deployment } from "../../../../domain/deployments/deployment.ts";
import { inContainers, usesContainers } from "../../../../domain/deployments/instance_id.ts";
import type { ServiceRecord } from "../../../../domain/services/service_set.ts";
import type { LiveRelease } from "../../../../ports/deployments/live_releases.ts";
import { checkHostMounts } from "../../../projects/check_host_mounts.ts";
import { ensureServices } from "../../../services/ensure_services.ts";
import { adoptedRelease, restoreAdopted } from "./adopted_release.ts";
import { Changeover, STOP_GRACE_MS } from "./changeover.ts";
import type { Outcome, RunningService } from "./changeover_plan.ts";
import { publicServices } from "../../../../domain/services/public_services.ts";
import { recordsOf } from "../../../services/records_of.ts";
import { hasServices } from "../../../../domain/services/sole_service.ts";
import type { StopReason } from "../hold.ts";
import { note, type Run, step, store } from "../run.ts";
import { publicAddresses, routesTo } from "../../../services/service_routes.ts";
import { pendingService, serviceEvent, publishService, withService } from "./service_ledger.ts";

/** A run with the ports of this step. */
type StepRun = Run<
  | "adoptions"
  | "domains"
  | "edge"
  | "healthProbe"
  | "hostFolders"
  | "instanceSockets"
  | "liveReleases"
  | "projects"
  | "releaseFolders"
  | "releaseImages"
  | "runtime"
  | "serviceSets"
>;

/** Starts a release, waits until it is healthy and has stayed up, and moves traffic to it. */
export async function bringLive(run: StepRun): Promise<void> {
  if (await isServing(run)) await step(run, "switch", () => announce(run));
  else {
    await restoreFormer(run);
    const former = await formerRelease(run);
    const changeover = await changeoverTo(run, former);
    try {
      await step(run, "start", async () => {
        await checkMachine(run);
        await nameServices(run);
        await changeover.start();
      });
      let answered: readonly Outcome[] = [];
      await step(run, "health", async () => void (answered = await changeover.answered()));
      await step(run, "switch", async () => {
        // Without a former release there is nothing to go back to, so traffic need not wait for the probation.
        if (!former) await route(run, answered);
        await switchTraffic(run, changeover, former);
      });
    } catch (error) {
      await changeover.abandon();
      throw error;
    }
  }
  // It serves from here on: too late to cancel.
  run.signal = withoutCancelling(run.signal);
}

/** Whether traffic has moved to this deployment already. */
export async function isServing({ deployment, ports }: StepRun): Promise<boolean> {
  if (deployment.steps.some(({ name, status }) => name === "switch" && status === "done")) return true;
  return (await ports.liveReleases.among([deployment.id])).has(deployment.id);
}

/** Leaves traffic with the former release, all of it running, and removes every instance of this deployment. */
export async function restoreFormer(run: StepRun): Promise<void> {
  const { deployment, ports, settings } = run;
  const former = await formerRelease(run);
  const { visited = [], others = [] } = await ownInstances(run, former);
  // These replaced former instances, possibly of a renamed service, and must be gone before those start again.
  for (const { instanceId } of others) await ports.runtime.remove(instanceId, { graceMs: STOP_GRACE_MS });
  let failure: { readonly error: unknown } | undefined;
  const restored = former ? ensureServices(ports, former.deployment) : restoreAdopted(run);
  await restored.catch((error: unknown) => (failure = { error }));
  const routes = former ? await routesTo(ports, former.project, former.deployment, settings.baseDomain) : [];
  await ports.edge.switch(scopeOf(deployment), routes);
  for (const { instanceId } of visited) await ports.runtime.remove(instanceId, { graceMs: STOP_GRACE_MS });
  if (failure) throw failure.error;
}

/** The instances of a deployment that are not part of the former release: public ones (`visited`) and `others`. */
async function ownInstances({ deployment, ports }: StepRun, former: LiveRelease | undefined) {
  // The start step is stored before anything is started.
  if (!deployment.steps.some(({ name }) => name === "start")) return {};
  const needed = new Set(former?.deployment.services.map(({ instanceId }) => instanceId));
  const containers = usesContainers(deployment);
  const own = (
    await ports.runtime.list({ all: inContainers(deployment), containers, server: deployment.plan.serverId ?? null })
  ).filter(({ deploymentId, instanceId }) => deploymentId === deployment.id && !needed.has(instanceId));
  const publicly = publicServices(deployment);
  return Object.groupBy(own, ({ service }) => (publicly.has(service) ? "visited" : "others"));
}

/** The release that serves before this one; a preview has none. */
function formerRelease({ deployment, ports }: StepRun): Promise<LiveRelease | undefined> {
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

async function changeoverTo(run: StepRun, former: LiveRelease | undefined): Promise<Changeover> {
  const { deployment, ports } = run;
  const isPreview = deployment.environment === "preview";
  await forgetAttempt(run);
  return new Changeover(run, {
    former: former ? await runningServicesOf(run, former.deployment) : await adoptedRelease(run),
    wanted: await recordsOf(ports, deployment),
    deployment,
    owner: deployment,
    publicServices: publicServices(deployment),
    report: (name, change) => publishService(run, name, change),
    keepsUnchanged: hasServices(deployment),
    // A preview has no former release for a decision to restore, and other deployments should not wait for one.
    allowsPartial: !isPreview,
    // A preview also has its own volumes, which no one-shot service has prepared.
    runsOneShots: deployment.rollbackOf === null || isPreview,
  });
}

/**
 * Rejects host mounts that the project may no longer use: a rollback was last checked when it was made, and a build may
 * have taken long.
 */
async function checkMachine({ deployment, ports, project, settings }: StepRun): Promise<void> {
  if (!hasServices(deployment)) return;
  const specs = (await recordsOf(ports, deployment)).map(({ spec }) => spec);
  const { settings: now } = (await ports.projects.find(project.organizationId, project.id)) ?? project;
  const mounting = {
    settings: now,
    location: locationOf(deployment),
    isOfPullRequest: deployment.pullRequest !== undefined,
  };
  await checkHostMounts({ ...ports, localSources: settings.localSources })(mounting, specs);
}

function locationOf({ plan }: Deployment): "local" | "server" {
  return plan.serverId === undefined ? "local" : "server";
}

/** Discards what a killed process recorded about its attempt: every wanted service is tried again. */
async function forgetAttempt({ deployment, ports }: StepRun): Promise<void> {
  const serviceSet = hasServices(deployment) ? await ports.serviceSets.read(deployment.id) : undefined;
  if (serviceSet?.instead) await ports.serviceSets.write(deployment.id, { ...serviceSet, instead: null });
}

/** Returns the services of a release, with whether each runs and is public. */
export async function runningServicesOf(
  { ports }: Pick<Run<"runtime" | "serviceSets">, "ports">,
  deployment: Deployment,
): Promise<readonly RunningService[]> {
  const publicly = publicServices(deployment);
  const runningService = async (record: ServiceRecord): Promise<readonly RunningService[]> => {
    const service = deployment.services.find(({ name }) => name === record.spec.name);
    if (!service) return [];
    const instance = service.instanceId ? await ports.runtime.find(service.instanceId) : undefined;
    const runs = instance !== undefined && instance.status !== "exited" && !instance.failing;
    return [{ record, service, deployment, runs, isPublic: publicly.has(record.spec.name) }];
  };
  return (await Promise.all((await recordsOf(ports, deployment)).map(runningService))).flat();
}

/** Notes which services there are, with their public URLs, to be stored before the first one is started. */
async function nameServices(run: StepRun): Promise<void> {
  const { deployment, ports, project, settings } = run;
  const addresses = await publicAddresses(ports, project, deployment, settings.baseDomain);
  const located = await Promise.all(
    addresses.map(async ({ hostname, pathPrefix, service }) => ({
      service,
      url: (await settings.edgeUrl(hostname)) + (pathPrefix === "/" ? "" : pathPrefix),
    })),
  );
  const records = await recordsOf(ports, deployment);
  const services = records.map(({ failure, filesOf, spec }) => ({
    ...pendingService(spec.name, located.find(({ service }) => service === spec.name)?.url ?? null),
    ...(failure && { status: "failed" as const, error: failure.message }),
    ...(filesOf !== undefined && { filesOf }),
  }));
  note(run, (stored) => ({ ...stored, services, urls: located.map(({ url }) => url) }));
}

/** Moves traffic once the release has stayed up. */
async function switchTraffic(run: StepRun, changeover: Changeover, former: LiveRelease | undefined): Promise<void> {
  const { liveReleases, runtime } = run.ports;
  const { deployment } = run;
  const outcomes = await changeover.awaitProbation();
  run.signal.throwIfAborted();
  const hasFailed = outcomes.some(({ status }) => status === "failed");
  const instead = hasFailed ? await noteWhatRuns(run, outcomes, former) : [];
  await storeOutcomes(run, { outcomes, instead, replaces: former?.deployment.id ?? null });
  for (const { beside, instanceId } of outcomes) if (beside && instanceId) await runtime.introduce(instanceId);
  if (deployment.environment === "preview") return;
  await liveReleases.activate(deployment.id, { claim: run.hold.claim, at: run.ports.clock.now() });
  await announce(run);
}

/** Records what runs in place of failed services: the former version, or nothing. */
async function noteWhatRuns(
  run: StepRun,
  outcomes: readonly Outcome[],
  former: LiveRelease | undefined,
): Promise<readonly ServiceRecord[]> {
  const { serviceSets, releaseImages } = run.ports;
  const { id, artifactOf, projectId } = run.deployment;
  const serviceSet = await serviceSets.read(id);
  if (!serviceSet) return [];
  const before = former
    ? await recordsOf(run.ports, former.deployment)
    : (await adoptedRelease(run)).map(({ record }) => record);
  const instead: ServiceRecord[] = [];
  for (const record of serviceSet.wanted) {
    const { name } = record.spec;
    const hasFailed = outcomes.some((outcome) => outcome.name === name && outcome.status === "failed");
    const runs = hasFailed ? before.find(({ spec }) => spec.name === name) : record;
    if (!runs) continue;
    const isOwn = (artifactOf ?? id) === id;
    instead.push(
      hasFailed && !(isOwn && needsOnlyItsImage(runs)) ? withFiles(runs, former?.deployment ?? run.deployment) : runs,
    );
    if (hasFailed && runs.image !== null && isOwn) {
      await releaseImages.keep(runs.image, { deploymentId: id, projectId, service: name });
    }
  }
  await serviceSets.write(id, { ...serviceSet, instead });
  return instead;
}

/** Whether a service needs no files besides its image. */
function needsOnlyItsImage({ image, spec }: ServiceRecord): boolean {
  return image !== null && !spec.container.mounts.some(({ kind }) => kind === "source");
}

/** A former service's record, with the deployment whose release folder has its files. */
function withFiles(record: ServiceRecord, { artifactOf, id }: Deployment): ServiceRecord {
  return { ...record, filesOf: record.filesOf ?? artifactOf ?? id };
}

interface Stored {
  readonly outcomes: readonly Outcome[];
  /** What runs in place of failed services. */
  readonly instead: readonly ServiceRecord[];
  readonly replaces: string | null;
}

async function storeOutcomes(run: Run, { outcomes, instead, replaces }: Stored): Promise<void> {
  const change = (stored: Deployment) => {
    let changed: Deployment = { ...stored, replaces };
    for (const { name, status, instanceId, site, failure } of outcomes) {
      const error = failure && run.writer.masked(failure.message);
      const { filesOf } = (status === "failed" && instead.find(({ spec }) => spec.name === name)) || {};
      const stands = { status, instanceId, site, error, ...(filesOf !== undefined && { filesOf }) };
      changed = withService(changed, name, stands);
    }
    return changed;
  };
  const news = outcomes.filter(({ status }) => status === "healthy").map(({ name }) => name);
  const events = change(run.deployment)
    .services.filter(({ name }) => news.includes(name))
    .map(serviceEvent);
  await store(run, change, events);
}

/** Routes traffic to the release, through the edges of all processes. */
async function announce(run: StepRun): Promise<void> {
  await route(run);
  await run.ports.liveReleases.announce(run.project.id);
}

/** Routes traffic to the release. Instances that were just started are at the addresses which they got then. */
async function route(run: StepRun, answered: readonly Outcome[] = []): Promise<void> {
  const { deployment, ports, project, settings } = run;
  const started = answered.flatMap(({ instance }) => instance ?? []);
  const find = async (id: string) => started.find(({ instanceId }) => instanceId === id) ?? ports.runtime.find(id);
  const routes = await routesTo({ ...ports, runtime: { find } }, project, deployment, settings.baseDomain);
  await ports.edge.switch(scopeOf(deployment), routes);
}
