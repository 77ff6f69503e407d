import { scopeOf } from "../../../domain/deployments/release_scope.ts";
import type { Deployment, DeploymentError } from "../../../domain/deployments/deployment.ts";
import { secretMask } from "../../../domain/deployments/secret_mask.ts";
import { secretValues } from "../../../domain/deployments/secret_values.ts";
import { stoppedService } from "../../../domain/deployments/stopped_service.ts";
import { Failure } from "../../../domain/failure.ts";
import type { Secret } from "../../../domain/secret.ts";
import { pullRequestObstacle } from "../pull_request_obstacle.ts";
import { cleanImages } from "../cleanup/clean_images.ts";
import { cleanReleases } from "../cleanup/clean_releases.ts";
import { cleanSources } from "../cleanup/clean_sources.ts";
import type { RunInBackground } from "../cleanup/end_previews.ts";
import { dropUpload } from "../cleanup/drop_upload.ts";
import { dropVolumes } from "../../services/drop_volumes.ts";
import { keepUpload } from "../cleanup/keep_upload.ts";
import { AwaitsApproval } from "./build/ask_approval.ts";
import { beginBuild } from "./build/begin_build.ts";
import { bringLive, restoreFormer, isServing } from "./changeover/bring_live.ts";
import { retire } from "./changeover/retire.ts";
import { buildRelease } from "./build/build_release.ts";
import { carryOutDecision } from "./decision/carry_out_decision.ts";
import { end } from "./end.ts";
import { EventWriter } from "./event_writer.ts";
import { fencedPorts } from "./fenced_ports.ts";
import { type Hold, type StopReason, LeaseLost } from "./hold.ts";
import { partialFailure } from "../../../domain/deployments/partial_failure.ts";
import {
  type EnginePorts,
  type EngineSettings,
  isOutage,
  type Run,
  logLine,
  step,
  StepFailed,
  Stopped,
} from "./run.ts";
import { placedPorts } from "../../services/placed_ports.ts";
import { planOf } from "../make_deployment.ts";
import { restReplaced } from "./changeover/adopted_release.ts";
import { sendingBuilder } from "./build/sending_builder.ts";
import { tidyUp } from "./tidy_up.ts";

/** A run with all ports of the engine. */
type StepRun = Run<keyof EnginePorts>;

const ATTEMPTS = 4;

/** Runs a deployment from its stored state until it is settled or has to wait. Throws only on a bug or an outage. */
export function runDeployment(ports: EnginePorts, settings: EngineSettings) {
  return async function (taken: Deployment, hold: Hold): Promise<void> {
    const project = await ports.projects.find(taken.organizationId, taken.projectId);
    if (!project) return;
    // Until its build begins, a deployment follows its project. What was built before runs where it was built.
    const followsProject = taken.status === "queued" && taken.source.kind !== "artifact";
    const { serverId } = followsProject ? planOf(project) : taken.plan;
    const placed = portsFor(ports, serverId, taken);
    const fenced = fencedPorts(placed, hold);
    const run: StepRun = {
      ports: fenced,
      hold,
      settings,
      project,
      environment: new Map(),
      writer: new EventWriter(fenced, taken.id, (text) => text),
      signal: hold.signal,
      deployment: taken,
      backgroundTasks: [],
    };
    try {
      run.environment = await ports.deployments.environment(taken.id);
      const secrets = [...secretValues(taken, run.environment), ...(await secretsBefore(ports, taken))];
      run.writer = new EventWriter(fenced, taken.id, secretMask(secrets));
      if (taken.pendingDecision !== null) await carryOutDecision(run, taken.pendingDecision);
      else await carryOut(run);
    } catch (error) {
      return settle(run, error);
    }
    for (const work of run.backgroundTasks) void work(placed).catch(() => {});
  };
}

/** The ports with the container engine of a server in place of this machine's, if there is one. */
function portsFor(ports: EnginePorts, serverId: string | undefined, { own }: Deployment): EnginePorts {
  const placed = placedPorts(ports, serverId);
  if (serverId === undefined || own?.buildStrategy !== "local") return placed;
  const { imageTransfer, releaseImages } = ports.serverEngines.of(serverId);
  return { ...placed, imageBuilder: sendingBuilder({ ...ports, imageTransfer, releaseImages }) };
}

/** The secrets of the former release that a decision may start again, to be masked in its output too. */
async function secretsBefore(
  { deployments }: EnginePorts,
  { pendingDecision, replaces }: Deployment,
): Promise<readonly Secret[]> {
  const former = pendingDecision === null || replaces === null ? undefined : await deployments.get(replaces);
  return former ? secretValues(former, await deployments.environment(former.id)) : [];
}

async function carryOut(run: StepRun): Promise<void> {
  await refuseHopeless(run);
  if (run.deployment.status === "queued") await beginBuild(run);
  else if (run.deployment.attempts > 1 && !run.deployment.prompt)
    logLine(run, null, "The server was restarted during the deployment: continuing");
  if (run.deployment.status === "building") await buildRelease(run);
  await bringLive(run);
  const failure = partialFailure(run.deployment);
  await leaveFormer(run, failure === null ? ["retire", "clean"] : ["retire"]);
  if (failure !== null) return end(run, "partly_healthy", { error: failure });
  await end(run, "healthy");
  // Edges of other processes find a preview only once it is stored as ready.
  if (run.deployment.environment === "preview") await run.ports.liveReleases.announce(scopeOf(run.deployment));
}

/**
 * Stops a cancelled deployment, one of a pull request that has no preview any more, and one that was interrupted too
 * often. A release that serves already is always finished.
 */
async function refuseHopeless(run: StepRun): Promise<void> {
  const { cancelRequested, attempts } = run.deployment;
  const obstacle = await pullRequestObstacle(run.ports, run.project, run.deployment);
  if ((!cancelRequested && attempts <= ATTEMPTS && obstacle === undefined) || (await isServing(run))) return;
  if (cancelRequested) throw new Stopped("The deployment was cancelled");
  if (obstacle !== undefined) throw new Stopped(`The deployment was cancelled: ${obstacle}`);
  throw new Failure(
    "unavailable",
    "interrupted",
    "Cannot finish: the server was stopped during it too many times. Deploy again",
  );
}

/** Retires the former release and removes what no rollback can use. A failure does not undo a release that serves. */
async function leaveFormer(run: StepRun, which: readonly ("retire" | "clean")[]): Promise<void> {
  const { project, deployment } = run;
  const served = deployment.environment === "preview" ? project : { ...project, activeDeploymentId: deployment.id };
  const later: RunInBackground = (work) => run.backgroundTasks.push(work);
  const works = {
    retire: async () => {
      await retire(run);
      // A partial failure may still be rejected, which starts them again.
      if (partialFailure(deployment) === null) await restReplaced(run);
    },
    clean: async () => {
      await dropUpload(run.ports, deployment);
      const wereAny = await cleanReleases(run.ports, run.settings.rollbackWindow, later)(served);
      // Skipped if nothing was removed, because listing images is slow; the sweep finds what a killed server left. A
      // retry always lists them, because the killed process may have removed only the folders.
      if ((wereAny || deployment.attempts > 1) && deployment.plan.runtime === "docker") await cleanImages(run.ports)();
    },
  };
  for (const name of which) {
    run.signal.throwIfAborted();
    await tidyUp(run, { tasks: [() => step(run, name, works[name])], what: "former releases", at: name });
  }
}

/**
 * Ends a run that could not continue. A wait, a shutdown, an outage or a lost lease leaves everything to the next run,
 * and so does a release that serves already. Anything else is undone first.
 */
async function settle(run: StepRun, error: unknown): Promise<void> {
  try {
    await conclude(run, error);
  } catch (problem) {
    if (!(problem instanceof LeaseLost)) throw problem;
    run.writer.discard();
  }
}

async function conclude(run: StepRun, error: unknown): Promise<void> {
  const reason = run.signal.aborted ? (run.signal.reason as StopReason) : undefined;
  const cause = error instanceof StepFailed ? error.cause : error;
  if (cause instanceof AwaitsApproval) return run.writer.flush();
  if (reason === "lost" || reason === "shutdown" || cause instanceof LeaseLost) {
    if (reason === "shutdown") await run.writer.flush().catch(() => {});
    return run.writer.discard();
  }
  if (isOutage(cause) || (await isServing(run))) {
    run.writer.discard();
    throw cause;
  }
  await undo(run);
  if (reason === "cancelled" || cause instanceof Stopped) {
    logLine(run, null, cause instanceof Stopped ? cause.message : "The deployment was cancelled");
    await end(run, "cancelled", { change: stopped });
    return forgetSources(run);
  }
  const reported = deploymentErrorOf(run, error, cause);
  logLine(run, reported.step, reported.message, "error");
  await end(run, "failed", { error: reported, change: stopped });
  await forgetSources(run);
  if (!(cause instanceof Failure)) throw cause;
}

function deploymentErrorOf(run: Run, error: unknown, cause: unknown): DeploymentError {
  const at = error instanceof StepFailed ? error.step : null;
  if (cause instanceof Failure) return { code: cause.code, message: run.writer.masked(cause.message), step: at };
  return {
    code: "internal",
    message: "Cannot finish: something unexpected went wrong. The server's log has the details",
    step: at,
  };
}

/** Removes the sources of former attempts beyond the rollback window; the sweep retries what fails. */
async function forgetSources({ ports, project, settings }: StepRun): Promise<void> {
  await cleanSources(ports, settings.rollbackWindow)(project).catch(() => {});
}

/**
 * Removes everything of an unfinished deployment except what it can be built from again, and leaves traffic where it
 * was before.
 */
async function undo(run: StepRun): Promise<void> {
  const { deployment, ports } = run;
  const own = (deployment.artifactOf ?? deployment.id) === deployment.id;
  const tasks = [
    () => restoreFormer(run),
    () => (deployment.plan.runtime === "docker" ? dropVolumes(ports, deployment) : undefined),
    // The one that was made beside the build, if nothing was ever started in it.
    () => (deployment.plan.runtime === "docker" ? ports.serviceNetworks.release(scopeOf(deployment)) : undefined),
    () => (own ? ports.releaseFolders.remove(deployment.id) : undefined),
    () => (own && deployment.plan.runtime === "docker" ? ports.releaseImages.remove(deployment.id) : undefined),
    () => keepUpload(ports, deployment),
  ];
  await tidyUp(run, { tasks, what: "this deployment" });
}

/** A deployment with nothing running and no artifact. */
function stopped(ended: Deployment): Deployment {
  const hasFailed = ended.status === "failed";
  // If some services are known to have failed, the others only ended with them.
  const isBlamed = ended.services.some(({ status }) => status === "failed");
  const services = ended.services.map((service) =>
    hasFailed && (service.status === "failed" || !isBlamed)
      ? stoppedService(service, { status: "failed", error: service.error ?? ended.error?.message ?? null })
      : stoppedService(service, { status: "stopped", error: null }),
  );
  return {
    ...ended,
    artifactAvailable: false,
    urls: [],
    services: services.map((service) => ({ ...service, url: null })),
  };
}
