import type { DeployedService, Deployment } from "../../../../domain/deployments/deployment.ts";
import { inContainers, usesContainers } from "../../../../domain/deployments/instance_id.ts";
import { stoppedService } from "../../../../domain/deployments/stopped_service.ts";
import { reopenDecision, type RequestedDecision } from "../../../../domain/deployments/requests.ts";
import { Failure } from "../../../../domain/failure.ts";
import { cleanImages } from "../../cleanup/clean_images.ts";
import { cleanReleases } from "../../cleanup/clean_releases.ts";
import { runsPartOf } from "../../cleanup/drop_artifact.ts";
import { dropUpload } from "../../cleanup/drop_upload.ts";
import type { RunInBackground } from "../../cleanup/end_previews.ts";
import { ensureServices } from "../../../services/ensure_services.ts";
import type { Instance } from "../../../../ports/services/runtime.ts";
import { bringBackAdopted, restReplaced } from "../changeover/adopted_release.ts";
import { runningServicesOf } from "../changeover/bring_live.ts";
import { retire } from "../changeover/retire.ts";
import { Changeover, STOP_GRACE_MS } from "../changeover/changeover.ts";
import type { Outcome } from "../changeover/changeover_plan.ts";
import { end } from "../end.ts";
import { LeaseLost } from "../hold.ts";
import { partialFailure } from "../../../../domain/deployments/partial_failure.ts";
import { publicServices } from "../../../../domain/services/public_services.ts";
import { recordsOf } from "../../../services/records_of.ts";
import { isOutage, type Run, logLine, store } from "../run.ts";
import { tidyUp } from "../tidy_up.ts";
import { routesTo } from "../../../services/service_routes.ts";

/** A run with the ports of this step. */
type StepRun = Run<
  | "domains"
  | "edge"
  | "healthProbe"
  | "instanceSockets"
  | "keptSources"
  | "liveReleases"
  | "pullRequests"
  | "releaseFolders"
  | "adoptions"
  | "releaseImages"
  | "serverEngines"
  | "runtime"
  | "serviceSets"
  | "uploadFiles"
  | "volumes"
>;

/**
 * Carries out the decision about a partial failure, resuming where a killed process stopped. If that fails, logs why
 * and opens the decision again.
 */
export async function carryOutDecision(run: StepRun, what: RequestedDecision): Promise<void> {
  try {
    if (what === "keep") await keep(run);
    else await reject(run);
  } catch (error) {
    const isOurs = !run.signal.aborted && !isOutage(error) && !(error instanceof LeaseLost);
    // Once traffic is back on the former release, the only way is forward.
    if (isOurs && error instanceof Failure && (await isLive(run))) return restoreDecision(run, what, error);
    run.writer.discard();
    throw error;
  }
}

/** Makes the services that came up the final release; there is no way back behind it. */
async function keep(run: StepRun): Promise<void> {
  logLine(run, null, "Kept: the services that came up serve, the others stay as they were");
  await leaveOnly(run, run.deployment, async () => {
    await restReplaced(run);
    await dropUpload(run.ports, run.deployment);
  });
  await end(run, "kept", { change: (deployment) => ({ ...deployment, error: null }) });
}

/** Takes every service back to its state before this deployment; unchanged ones are left alone. */
async function reject(run: StepRun): Promise<void> {
  const { replaces } = run.deployment;
  logLine(run, null, "Rejected: the changed services go back to their former version");
  const former = replaces === null ? undefined : await run.ports.deployments.get(replaces);
  // If a killed server had already moved traffic back, only the announcement and the cleanup remain.
  const restored = former && (await isLive(run)) ? await bringBack(run, former) : former;
  if (!former) await bringBackAdopted(run);
  await lead(run, restored);
  await leaveOnly(run, restored, () => dropOwn(run, restored));
  await end(run, "rejected", { change: rejected });
}

/** A rejected release, with nothing running and no artifact. */
function rejected(deployment: Deployment): Deployment {
  return {
    ...deployment,
    // Not the error of a first attempt to reject it.
    error: partialFailure(deployment),
    artifactAvailable: false,
    urls: [],
    services: deployment.services.map(rejectedService),
  };
}

/** A service of a rejected release: failed ones stay failed, the others are stopped, and none keeps a URL. */
function rejectedService(service: DeployedService): DeployedService {
  const { error, status } = service;
  const ended = status === "failed" ? { status, error } : ({ status: "stopped", error: null } as const);
  return { ...stoppedService(service, ended), url: null };
}

/** Whether this deployment is still its project's live release. */
async function isLive({ deployment, ports }: StepRun): Promise<boolean> {
  return (await ports.liveReleases.find(deployment.projectId))?.deployment.id === deployment.id;
}

/** Routes traffic to the restored release, or nowhere if there was none. */
async function lead({ hold, ports, project, settings }: StepRun, restored: Deployment | undefined): Promise<void> {
  const routes = restored ? await routesTo(ports, project, restored, settings.baseDomain) : [];
  await ports.liveReleases.activate(restored?.id ?? null, { claim: hold.claim, at: ports.clock.now() });
  await ports.edge.switch(project.id, routes);
  await ports.liveReleases.announce(project.id);
}

/** Starts the services of the former release that differ. */
async function bringBack(run: StepRun, former: Deployment): Promise<Deployment> {
  const { ports, deployment } = run;
  const publicly = publicServices(former);
  // Non-public instances that a killed server had started would conflict.
  await removeBegun(run, ({ service }) => !publicly.has(service));
  const changeover = new Changeover(run, {
    former: await runningServicesOf(run, deployment),
    wanted: await recordsOf(ports, former),
    deployment: former,
    // Unique, because another deployment may go back to the same release again.
    owner: { id: former.id, attempts: `${former.attempts}r${deployment.version}-${deployment.attempts}` },
    publicServices: publicly,
    // Only emits events: the stored state stays true until traffic moves back, so that a restart finds it unchanged.
    report: async (name, { status = "pending", error = null }) =>
      run.writer.event({ type: "service", name, status, error }),
    keepsUnchanged: true,
    allowsPartial: false,
    runsOneShots: false,
  });
  try {
    await changeover.start();
    await changeover.answered();
    const outcomes = await changeover.awaitProbation();
    for (const { beside, instanceId } of outcomes) if (beside && instanceId) await ports.runtime.introduce(instanceId);
    const changed = await ports.deployments.change(former.id, (stored) => ({
      deployment: { ...stored, services: stored.services.map((service) => withOutcome(service, outcomes)) },
      events: [],
    }));
    return changed ?? former;
  } catch (error) {
    await changeover.abandon();
    throw error;
  }
}

/** A service of the former release, with the instance that runs again. */
function withOutcome(service: DeployedService, outcomes: readonly Outcome[]): DeployedService {
  const outcome = outcomes.find(({ name }) => name === service.name);
  if (!outcome) return service;
  const { instanceId, site } = outcome;
  return service.status === "failed" ? { ...service, instanceId, site } : { ...service, instanceId, site, error: null };
}

/** Restores the state at the time of the decision request, and opens the decision again. */
async function restoreDecision(run: StepRun, what: RequestedDecision, failure: Failure): Promise<void> {
  const publicly = publicServices(run.deployment);
  await removeBegun(run, ({ service }) => !publicly.has(service));
  await ensureServices(run.ports, run.deployment);
  await removeBegun(run, () => true);
  const message = run.writer.masked(failure.message);
  logLine(run, null, `Cannot ${what} this deployment: ${message}`, "error");
  const error = { code: `${what}_failed`, message: `Cannot ${what} this deployment: ${message}`, step: null };
  const { status, decision } = run.deployment;
  // Ends the event stream of clients that follow the decision.
  await store(run, (deployment) => reopenDecision(deployment, error), [{ type: "end", status, decision, error }]);
}

/** Removes instances of the former release that are not part of this one. */
async function removeBegun({ deployment, ports }: StepRun, which: (instance: Instance) => boolean): Promise<void> {
  const needed = new Set(deployment.services.map(({ instanceId }) => instanceId));
  const replaced = deployment.replaces === null ? undefined : await ports.deployments.get(deployment.replaces);
  const containers = usesContainers(deployment) || (replaced !== undefined && usesContainers(replaced));
  const begun = (
    await ports.runtime.list({ all: inContainers(deployment), containers, server: replaced?.plan.serverId ?? null })
  ).filter(
    (instance) => instance.deploymentId === deployment.replaces && !needed.has(instance.instanceId) && which(instance),
  );
  for (const { instanceId } of begun) await ports.runtime.remove(instanceId, { graceMs: STOP_GRACE_MS });
}

/**
 * Removes the upload, files and images of this deployment. The sweep removes those that the restored release has taken
 * over, once it no longer uses them.
 */
async function dropOwn({ deployment, ports }: StepRun, live: Deployment | undefined): Promise<void> {
  await dropUpload(ports, deployment);
  if ((deployment.artifactOf ?? deployment.id) !== deployment.id) return;
  if (live && runsPartOf(live, deployment.id)) return;
  await ports.releaseFolders.remove(deployment.id);
  if (deployment.plan.runtime === "docker") await ports.releaseImages.remove(deployment.id);
}

/** Removes what is not part of the live release. */
async function leaveOnly(run: StepRun, live: Deployment | undefined, drop: () => Promise<void>): Promise<void> {
  const project = { ...run.project, activeDeploymentId: live?.id ?? null };
  const later: RunInBackground = (work) => run.backgroundTasks.push(work);
  const tasks = [
    () => retire(run, { services: live?.services ?? [] }),
    drop,
    () => cleanReleases(run.ports, run.settings.rollbackWindow, later)(project),
    () => ([run.deployment, ...(live ? [live] : [])].some(usesContainers) ? cleanImages(run.ports)() : undefined),
  ];
  await tidyUp(run, { tasks, what: "former releases" });
}
