import type { DeployedService, Deployment } from "../../../domain/deployment/deployment.ts";
import type { NewEvent } from "../../../domain/deployment/deployment_event.ts";
import { happen, type Happening } from "../../../domain/deployment/transitions.ts";
import { Failure } from "../../../domain/failure.ts";
import { cleanImages } from "../clean_images.ts";
import { cleanReleases } from "../clean_releases.ts";
import { dropUpload } from "../drop_upload.ts";
import { ensureServices } from "../ensure_services.ts";
import { retire, standingsOf } from "./bring_live.ts";
import { Changeover, STOP_GRACE_MS } from "./changeover.ts";
import type { Outcome } from "./changeover_plan.ts";
import { publicServices } from "./public_services.ts";
import { recordsOf } from "./records_of.ts";
import { isOutage, type Run, say, store, TakenAway } from "./run.ts";
import { routesTo } from "./serve.ts";
import { serviceEvent } from "./service_ledger.ts";

/** Carries out what was decided about a partial failure, from wherever a killed process left it. What cannot be done is told, and the decision is open again. */
export async function carryOutDecision(run: Run, asked: "keep" | "reject"): Promise<void> {
  try {
    if (asked === "keep") await keep(run);
    else await reject(run);
  } catch (error) {
    const isOurs = !run.signal.aborted && !isOutage(error) && !(error instanceof TakenAway);
    if (isOurs && error instanceof Failure) return openAgain(run, asked, error);
    run.writer.discard();
    throw error;
  }
}

/** What came up is what runs; nobody goes back behind it. */
async function keep(run: Run): Promise<void> {
  say(run, null, "Kept: what came up serves, the rest stays as it was");
  await retire(run);
  await tidyUp(run, run.deployment);
  await end(run, "kept", (deployment) => ({ ...deployment, error: null }));
}

/** Every service goes back to where it was before this deployment; what is the same is left alone. */
async function reject(run: Run): Promise<void> {
  const { deployments, liveReleases } = run.ports;
  const { replaces, projectId } = run.deployment;
  say(run, null, "Rejected: what changed goes back to where it was");
  const former = replaces === null ? undefined : await deployments.get(replaces);
  const live = (await liveReleases.find(projectId))?.deployment.id;
  // A server that was killed right after it had led visitors back has only to tidy up.
  const isBack = live !== run.deployment.id;
  const restored = isBack ? former : await lead(run, former);
  await retire(run, { services: restored?.services ?? [] });
  await tidyUp(run, restored);
  await dropOwn(run);
  await end(run, "rejected", (deployment) => ({
    ...deployment,
    artifactAvailable: false,
    services: deployment.services.map((service) => ({ ...service, status: "stopped" as const, instanceId: null })),
  }));
}

/** Brings the former release up where it differs, and leads visitors to it; where there was none, to nothing. */
async function lead(run: Run, former: Deployment | undefined): Promise<Deployment | undefined> {
  const { ports, project, settings } = run;
  const restored = former && (await bringBack(run, former));
  const routes = restored ? await routesTo(ports, project, restored, settings.baseDomain) : [];
  await ports.projects.change(project.organizationId, project.id, {
    at: ports.clock.now(),
    change: () => ({ activeDeploymentId: restored?.id ?? null }),
  });
  await ports.edge.switch(project.id, routes);
  await ports.liveReleases.announce(project.id);
  return restored;
}

async function bringBack(run: Run, former: Deployment): Promise<Deployment> {
  const { ports, deployment } = run;
  const changeover = new Changeover(run, {
    former: await standingsOf(run, deployment),
    wanted: await recordsOf(ports, former),
    deployment: former,
    owner: { id: former.id, attempts: `${former.attempts}r${deployment.attempts}` },
    publicly: publicServices(former),
    // What is stored stays true until visitors are led back: a killed server finds everything as it was.
    tell: async (name, { status = "pending", error = null }) =>
      run.writer.event({ type: "service", name, status, error }),
    keepsSame: true,
    runsOneShots: false,
  });
  try {
    await changeover.start();
    await changeover.answered();
    const outcomes = await changeover.stayedUp();
    const failure = outcomes.find((outcome) => outcome.failure !== null)?.failure;
    if (failure) throw failure;
    for (const { beside, instanceId } of outcomes) if (beside && instanceId) await ports.runtime.introduce(instanceId);
    const changed = await ports.deployments.change(former.id, (stored) => ({
      deployment: { ...stored, services: stored.services.map((service) => standing(service, outcomes)) },
      events: [],
    }));
    return changed ?? former;
  } catch (error) {
    await changeover.abandon();
    throw error;
  }
}

/** A service of a former release with what runs of it again. */
function standing(service: DeployedService, outcomes: readonly Outcome[]): DeployedService {
  const outcome = outcomes.find(({ name }) => name === service.name);
  if (!outcome) return service;
  const { instanceId, site } = outcome;
  return service.status === "failed" ? { ...service, instanceId, site } : { ...service, instanceId, site, error: null };
}

/** Leaves everything as it was when the decision was asked for. */
async function openAgain(run: Run, asked: "keep" | "reject", failure: Failure): Promise<void> {
  const { ports } = run;
  await ensureServices(ports, run.deployment);
  const needed = new Set(run.deployment.services.map(({ instanceId }) => instanceId));
  const surplus = (await ports.runtime.list()).filter(
    ({ deploymentId, instanceId }) => deploymentId === run.deployment.replaces && !needed.has(instanceId),
  );
  for (const { instanceId } of surplus) await ports.runtime.remove(instanceId, { graceMs: STOP_GRACE_MS });
  const message = run.writer.masked(failure.message);
  say(run, null, `Cannot ${asked} this deployment: ${message}`, "error");
  await store(run, (deployment) => ({
    ...deployment,
    asked: null,
    held: true,
    error: { code: `${asked}_failed`, message: `Cannot ${asked} this deployment: ${message}`, step: null },
  }));
}

async function dropOwn({ deployment, ports }: Run): Promise<void> {
  if ((deployment.artifactOf ?? deployment.id) === deployment.id) {
    await ports.releaseFolders.remove(deployment.id);
    await ports.releaseImages.remove(deployment.id);
  }
  await dropUpload(ports, deployment);
}

async function tidyUp(run: Run, live: Deployment | undefined): Promise<void> {
  try {
    await cleanReleases(
      run.ports,
      run.settings.rollbackWindow,
    )({ ...run.project, activeDeploymentId: live?.id ?? null });
    await dropUpload(run.ports, run.deployment);
    await cleanImages(run.ports)();
  } catch (error) {
    if (isOutage(error)) throw error;
    say(run, null, "Not everything of former releases could be removed; it is tried again later", "warn");
  }
}

async function end(
  run: Run,
  what: Extract<Happening, "kept" | "rejected">,
  also: (deployment: Deployment) => Deployment,
) {
  const at = run.ports.clock.now();
  const settled = (deployment: Deployment) => also({ ...happen(deployment, what, { at }), asked: null, held: false });
  const { status, decision, services, error } = settled(run.deployment);
  const events: NewEvent[] = [
    ...(what === "rejected" ? services.map(serviceEvent) : []),
    { type: "status", status, decision },
    { type: "end", status, decision, error },
  ];
  await store(run, settled, events);
}
