import type { DeploymentPlan } from "../../../../domain/deployments/deployment.ts";
import { transition } from "../../../../domain/deployments/transitions.ts";
import type { Detection } from "../../../../domain/detection/detection.ts";
import { startCommandIn, warningsIn } from "../../../../domain/detection/in_runtime.ts";
import { obstacle } from "../../../../domain/detection/obstacle.ts";
import { invalid } from "../../../../domain/failure.ts";
import type { RuntimeName } from "../../../../domain/projects/project.ts";
import { variablesFor } from "../../../../domain/projects/service_variables.ts";
import { detectIn } from "../../sources/detect_in.ts";
import { askApproval } from "./ask_approval.ts";
import { buildImage } from "./build_image.ts";
import { buildInFolder, commandsOf } from "./build_in_folder.ts";
import { buildServices } from "./build_services.ts";
import { chooseRuntime } from "./choose_runtime.ts";
import { fetchSource } from "./fetch_source.ts";
import { withBuildTimeout } from "./build_timeout.ts";
import { holdsFolder } from "./holds_folder.ts";
import { recordsOf } from "../../../services/records_of.ts";
import { hasServices, SOLE_SERVICE } from "../../../../domain/services/sole_service.ts";
import { artifactGone } from "../../../services/release_folder.ts";
import { noteContainers } from "./note_containers.ts";
import { compareKind } from "../changeover/compare_with_live.ts";
import { resolveRoot, resolveServices } from "./resolve_services.ts";
import { type Run, logLine, step, store } from "../run.ts";
import { sayPort } from "./say_port.ts";
import { withNetworkBeside } from "./with_network_beside.ts";
import { settlePlan } from "../../../../domain/deployments/settle_plan.ts";

/** A run with the ports of this step. */
type StepRun = Run<
  | "builder"
  | "containerEngine"
  | "deployKeys"
  | "hostFolders"
  | "imageBuilder"
  | "imageRegistry"
  | "installation"
  | "keptSources"
  | "liveReleases"
  | "manifestParser"
  | "releaseFolders"
  | "releaseImages"
  | "serverEngines"
  | "serviceNetworks"
  | "serviceSets"
  | "sources"
  | "uploadFiles"
  | "yamlReader"
>;

/**
 * Makes the release of a deployment: fetches, detects and builds it, or reuses the artifact of the deployment that it
 * goes back to.
 */
export async function buildRelease(run: StepRun): Promise<void> {
  const { source } = run.deployment;
  if (source.kind === "artifact" && (await isKept(run, source.deploymentId))) {
    logLine(run, null, "The release still exists: nothing has to be built");
    return built(run, source.deploymentId);
  }
  const { id } = run.deployment;
  const folder = await run.ports.releaseFolders.find(id);
  // A server that was killed right after the build left a complete release.
  if (folder?.finished) return built(run, id);
  const wanted = source.kind === "artifact" ? source.fallback : source;
  if (!wanted || wanted.kind === "artifact") throw artifactGone();
  let found: Detection | undefined;
  if (!folder || !isPrepared(run)) {
    await step(run, "fetch", () => fetchSource(run, wanted));
    await step(run, "detect", async () => void (found = await recognise(run)));
  }
  await askApproval(run);
  await step(run, "build", () => build(run, found));
  await run.ports.releaseFolders.finish(id);
  await built(run, id);
}

/**
 * Whether an artifact can run as it is: its folder is finished, and exactly the recorded images, if any, are still
 * there.
 */
async function isKept({ deployment, ports }: StepRun, artifactOf: string): Promise<boolean> {
  if (!(await ports.releaseFolders.find(artifactOf))?.finished) return false;
  const records = await recordsOf(ports, deployment);
  for (const { filesOf = artifactOf, image, spec } of records) {
    if (filesOf !== artifactOf && !(await ports.releaseFolders.find(filesOf))?.finished) return false;
    // A service that runs from a folder needs no engine, and there may be none.
    if (image === null) continue;
    const kept = new Set([artifactOf, filesOf]);
    const images = await Promise.all(Array.from(kept, (id) => ports.releaseImages.find(id, spec.name)));
    if (!images.some((found) => found?.image === image)) return false;
  }
  return records.length > 0;
}

/**
 * Whether the source was fetched and detected and no build has changed it since, so that exactly the approved files are
 * built.
 */
function isPrepared({ deployment: { steps } }: Run): boolean {
  const has = (name: string) => steps.some((known) => known.name === name && known.status === "done");
  return has("fetch") && has("detect") && !steps.some(({ name }) => name === "build");
}

async function built(run: Run, artifactOf: string): Promise<void> {
  const at = run.ports.clock.now();
  await store(
    run,
    (deployment) => ({ ...transition(deployment, "built", { at }), artifactOf, artifactAvailable: true }),
    [{ type: "status", status: "deploying", decision: null }],
  );
}

/** Settles the plan. Resolves to what was detected, unless the source consists of several services. */
async function recognise(run: StepRun): Promise<Detection | undefined> {
  if (await isGiven(run)) return void (await resolveServices(run, null));
  const detection = await detected(run);
  if (isOfServices(run, detection)) {
    await compareKind(run, "services");
    return void (await resolveServices(run, detection));
  }
  const plan = await planned(run, detection);
  await compareKind(run, plan.projectType);
  const warnings = warningsIn(plan.runtime, plan.startCommand, detection);
  for (const warning of warnings) logLine(run, "detect", warning, "warn");
  if (plan.projectType === "app" && plan.startCommand === null) {
    const unknown =
      "Cannot tell how to start this: set startCommand on the project, or outputDirectory for a static site";
    throw invalid("nothing_to_start", obstacle(detection) ?? unknown);
  }
  logLine(run, "detect", described(detection, plan));
  await store(run, (deployment) => ({ ...deployment, plan, framework: plan.framework ?? detection.language }));
  return detection;
}

/** Whether the services were given explicitly. */
async function isGiven({ deployment, ports }: StepRun): Promise<boolean> {
  return hasServices(deployment) && ((await ports.serviceSets.read(deployment.id))?.given ?? null) !== null;
}

/** Whether the source consists of several services and the plan asks for nothing else. */
function isOfServices({ deployment: { plan } }: Run, { projectType }: Detection): boolean {
  const wants = plan.projectType ?? (plan.dockerfile === null && plan.startCommand === null ? projectType : "app");
  return wants === "services";
}

async function detected(run: StepRun): Promise<Detection> {
  const { id, plan } = run.deployment;
  const root = resolveRoot(plan);
  if (!(await holdsFolder(run, root))) {
    throw invalid(
      "root_directory_missing",
      `Cannot find the folder ${plan.rootDirectory} in this source: set rootDirectory to the folder of the app`,
    );
  }
  return detectIn(run.ports, id, root);
}

async function planned(run: StepRun, found: Detection): Promise<DeploymentPlan & { readonly runtime: RuntimeName }> {
  const { deployment, settings } = run;
  const environment = variablesFor(run.environment, SOLE_SERVICE);
  const plan = settlePlan(deployment.plan, found, { environment, preset: settings.runtime });
  const { containerEngine } = run.ports;
  const runtime = await chooseRuntime({ plan, found }, { containerEngine, preset: settings.runtime });
  if (runtime === "docker") await noteContainers(run.ports, plan);
  if (plan.projectType !== "static") sayPort(run, runtime, [SOLE_SERVICE]);
  return { ...plan, startCommand: startCommandIn(runtime, plan.startCommand, found), runtime };
}

function described({ language }: Detection, plan: DeploymentPlan): string {
  const what = [plan.framework ?? language ?? "a project", plan.packageManager && `with ${plan.packageManager}`]
    .filter(Boolean)
    .join(" ");
  return `Found ${what}, ${howItRuns(plan)}`;
}

function howItRuns({ dockerfile, projectType, startCommand }: DeploymentPlan): string {
  if (projectType === "static") return "served as a static site";
  if (projectType === "docker" && startCommand === null) return `built and started by ${dockerfile ?? "Dockerfile"}`;
  return `started by "${startCommand}"`;
}

async function build(run: StepRun, found: Detection | undefined): Promise<void> {
  const { plan } = run.deployment;
  if (hasServices(run.deployment)) return withNetworkBeside(run, () => buildServices(run));
  const given = commandsOf(plan);
  for (const { name, command } of given) logLine(run, "build", `${name}: ${command}`);
  const nothing = given.length === 0 && (plan.runtime === "process" || plan.projectType === "static");
  if (nothing) return logLine(run, "build", "There is nothing to install or build");
  const work = async (signal: AbortSignal) =>
    plan.runtime === "docker"
      ? withNetworkBeside(run, async () => buildImage(run, found ?? (await detected(run)), signal))
      : buildInFolder(run, { service: null, rootDirectory: plan.rootDirectory }, given, signal);
  const { signal } = run;
  const owner = run.deployment.organizationId;
  await run.settings.buildSlots.run(() => withBuildTimeout(run, "finish the build", work, signal), { signal, owner });
}
