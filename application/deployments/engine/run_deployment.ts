import type { Deployment, DeploymentError } from "../../../domain/deployment/deployment.ts";
import { secretMask } from "../../../domain/deployment/secret_mask.ts";
import { happen } from "../../../domain/deployment/transitions.ts";
import { Failure } from "../../../domain/failure.ts";
import { Rejected, Waits } from "./ask_approval.ts";
import { bringLive, dropInstances } from "./bring_live.ts";
import { buildRelease, dropUpload } from "./build_release.ts";
import { EventWriter } from "./event_writer.ts";
import { type EnginePorts, type EngineSettings, type Run, say, step, StepFailed, store } from "./run.ts";
import { cleanReleases } from "../clean_releases.ts";
import { routeKey, routesTo } from "./serve.ts";

const ATTEMPTS = 4;

/** Why a run is to stop. */
export type StopReason = "cancelled" | "lost" | "shutdown";

/** Carries a deployment out, from wherever it stands, until it is settled or has to wait; what it throws is a bug or an outage. */
export function runDeployment(ports: EnginePorts, settings: EngineSettings) {
  return async function (taken: Deployment, signal: AbortSignal): Promise<void> {
    const live = await ports.projects.find(taken.organizationId, taken.projectId);
    if (!live) return;
    const environment = await ports.deployments.environment(taken.id);
    const writer = new EventWriter(ports, taken.id, secretMask(environment.values()));
    const run: Run = { ports, settings, project: live, environment, writer, signal, deployment: taken };
    try {
      await carryOut(run);
    } catch (error) {
      await settle(run, error);
    }
  };
}

async function carryOut(run: Run): Promise<void> {
  const { clock } = run.ports;
  if (run.deployment.attempts > ATTEMPTS) {
    throw new Failure(
      "unavailable",
      "interrupted",
      "Cannot finish: the server was stopped in the middle of it again and again. Deploy again",
    );
  }
  if (run.deployment.status === "queued") {
    await store(run, (deployment) => happen(deployment, "taken", { at: clock.now() }), [
      { type: "status", status: "building", decision: null },
    ]);
  } else if (run.deployment.attempts > 1 && !run.deployment.prompt) {
    say(run, null, "The server was restarted in the middle: going on");
  }
  if (run.deployment.status === "building") await buildRelease(run);
  await bringLive(run);
  await step(run, "clean", () => cleanReleases(run.ports, run.settings.rollbackWindow)(run.project));
  await end(run, "healthy", null);
}

/** Ends a run that could not go on: a wait or a lost lease leaves everything to the next one; all else is undone first. */
async function settle(run: Run, error: unknown): Promise<void> {
  const reason = run.signal.aborted ? (run.signal.reason as StopReason) : undefined;
  const cause = error instanceof StepFailed ? error.cause : error;
  if (cause instanceof Waits || reason === "lost" || reason === "shutdown") {
    await run.writer.flush().catch(() => {});
    return;
  }
  if (cause instanceof Failure && cause.code === "database_away") throw cause;
  await undo(run);
  if (reason === "cancelled" || cause instanceof Rejected) {
    say(run, null, cause instanceof Rejected ? "The build was rejected" : "The deployment was cancelled");
    return end(run, "cancelled", null);
  }
  const told = toldOf(error, cause);
  void run.writer.line(told.message, { step: told.step, stream: "slipway", level: "error" });
  await end(run, "failed", told);
  if (!(cause instanceof Failure)) throw cause;
}

function toldOf(error: unknown, cause: unknown): DeploymentError {
  const step = error instanceof StepFailed ? error.step : null;
  if (cause instanceof Failure) return { code: cause.code, message: cause.message, step };
  return {
    code: "internal",
    message: "Cannot finish: something unexpected went wrong. The server's log has the details",
    step,
  };
}

/** Leaves nothing of an unfinished deployment behind, and traffic where it was before. */
async function undo(run: Run): Promise<void> {
  const { edge, liveReleases, releaseFolders } = run.ports;
  const { deployment, project, settings } = run;
  const live = deployment.environment === "preview" ? undefined : await liveReleases.find(project.id);
  if (live?.deployment.id === deployment.id) return;
  await edge.switch(
    routeKey(deployment),
    live ? await routesTo(run.ports, live.project, live.deployment, settings.baseDomain) : [],
  );
  await dropInstances(run);
  if ((deployment.artifactOf ?? deployment.id) === deployment.id) await releaseFolders.remove(deployment.id);
  await dropUpload(run);
}

async function end(run: Run, what: "healthy" | "failed" | "cancelled", error: DeploymentError | null): Promise<void> {
  await run.writer.flush();
  const at = run.ports.clock.now();
  const gone = what !== "healthy";
  const changed = await run.ports.deployments.change(run.deployment.id, (deployment) => {
    const ended = happen(deployment, what, { at, error });
    const next = gone
      ? {
          ...ended,
          services: ended.services.map((service) => ({ ...service, status: "stopped" as const, instanceId: null })),
          artifactAvailable: false,
        }
      : ended;
    const { status, decision } = next;
    return {
      deployment: next,
      events: [
        { type: "status", status, decision },
        { type: "end", status, decision, error: next.error },
      ],
    };
  });
  if (changed) run.deployment = changed;
}
