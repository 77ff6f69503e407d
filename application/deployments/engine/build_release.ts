import type { Deployment, DeploymentPlan, DeploymentSource } from "../../../domain/deployment/deployment.ts";
import { happen } from "../../../domain/deployment/transitions.ts";
import type { Detection } from "../../../domain/detection/detection.ts";
import { invalid } from "../../../domain/failure.ts";
import type { BuildRequest } from "../../../ports/builder.ts";
import type { FetchableSource } from "../../../ports/sources.ts";
import { detectIn } from "../prepare_source.ts";
import { askApproval } from "./ask_approval.ts";
import { buildImage } from "./build_image.ts";
import { chooseRuntime } from "./choose_runtime.ts";
import { artifactGone, folderOf, workingFolder } from "./release_folder.ts";
import { type Run, say, step, store } from "./run.ts";

/** Makes the release a deployment will run: fetched, recognised and built, or taken over from the deployment it goes back to. */
export async function buildRelease(run: Run): Promise<void> {
  const { source } = run.deployment;
  if (source.kind === "artifact" && (await isKept(run, source.deploymentId))) {
    say(run, null, "The release is still there: nothing has to be built");
    return built(run, source.deploymentId);
  }
  const { id } = run.deployment;
  const folder = await run.ports.releaseFolders.find(id);
  // A server that was killed right after the build has left a release that is complete.
  if (folder?.finished) return built(run, id);
  const wanted = source.kind === "artifact" ? source.fallback : source;
  if (!wanted || wanted.kind === "artifact") throw artifactGone();
  if (!folder || !isPrepared(run)) {
    await step(run, "fetch", () => fetch(run, wanted));
    await step(run, "detect", () => recognise(run));
  }
  await askApproval(run);
  await step(run, "build", () => build(run));
  await run.ports.releaseFolders.finish(id);
  await built(run, id);
}

/** Whether an artifact is there to be run as it is: its folder, and exactly the image that was recorded where there is one. */
async function isKept({ deployment, ports }: Run, artifactOf: string): Promise<boolean> {
  if (!(await ports.releaseFolders.find(artifactOf))?.finished) return false;
  return deployment.image === null || (await ports.releaseImages.find(artifactOf))?.image === deployment.image;
}

/** Whether everything is there that a build starts from, and no build has touched it: what was approved is what is built. */
function isPrepared({ deployment: { steps } }: Run): boolean {
  const has = (name: string) => steps.some((known) => known.name === name && known.status === "done");
  return has("fetch") && has("detect") && !steps.some(({ name }) => name === "build");
}

async function built(run: Run, artifactOf: string): Promise<void> {
  const at = run.ports.clock.now();
  await store(run, (deployment) => ({ ...happen(deployment, "built", { at }), artifactOf, artifactAvailable: true }), [
    { type: "status", status: "deploying", decision: null },
  ]);
}

async function fetch(run: Run, source: Exclude<DeploymentSource, { kind: "artifact" }>): Promise<void> {
  const { releaseFolders, sources } = run.ports;
  const { id } = run.deployment;
  const folder = await releaseFolders.make(id);
  if (source.kind === "copy") {
    if (!(await releaseFolders.copy(source.deploymentId, id))) throw artifactGone();
    return;
  }
  const log = (line: string, stream: "stdout" | "stderr") => run.writer.line(line, { step: "fetch", stream });
  const { commitSha, commitMessage } = await inTime(run, "fetch the source", (signal) =>
    sources.fetch(exactly(source, run.deployment), { folder, signal, log }),
  );
  if (commitSha) say(run, "fetch", `At commit ${commitSha.slice(0, 12)}${commitMessage ? `: ${commitMessage}` : ""}`);
  await store(run, (deployment) => ({
    ...deployment,
    commitSha: commitSha ?? deployment.commitSha,
    commitMessage: commitMessage ?? deployment.commitMessage,
  }));
}

/** A commit that was fetched once is fetched again, however its branch went on since. */
function exactly(source: FetchableSource, { commitSha }: Deployment): FetchableSource {
  return source.kind === "git" ? { ...source, commit: source.commit ?? commitSha } : source;
}

async function recognise(run: Run): Promise<void> {
  const detection = await detected(run);
  const plan = await planned(run, detection);
  for (const warning of detection.warnings) say(run, "detect", warning, "warn");
  if (plan.projectType === "app" && plan.startCommand === null) {
    throw invalid(
      "nothing_to_start",
      "Cannot tell how to start this: set startCommand on the project, or outputDirectory for a static site",
    );
  }
  say(run, "detect", described(detection, plan));
  await store(run, (deployment) => ({ ...deployment, plan, framework: plan.framework ?? detection.language }));
}

async function detected(run: Run): Promise<Detection> {
  const { id, plan } = run.deployment;
  const root = plan.rootDirectory ? `${plan.rootDirectory.replace(/^\.\//, "").replace(/\/$/, "")}/` : "";
  return detectIn(run.ports, id, root);
}

async function planned(run: Run, found: Detection): Promise<DeploymentPlan> {
  const plan = settled(run, found);
  const { containerEngine } = run.ports;
  return { ...plan, runtime: await chooseRuntime({ plan, found }, { containerEngine, preset: run.settings.runtime }) };
}

/** What a person set counts; the rest is as it was found. */
function settled({ deployment: { plan }, environment }: Run, found: Detection): DeploymentPlan {
  const rootDirectory = [plan.rootDirectory, found.rootDirectory]
    .filter((part) => part !== null && part !== ".")
    .join("/");
  const projectType = plan.projectType ?? (plan.startCommand === null ? found.projectType : "app");
  const own = projectType === "docker" ? NO_COMMANDS : found;
  return {
    ...plan,
    rootDirectory: rootDirectory || null,
    framework: plan.framework ?? found.framework,
    packageManager: plan.packageManager ?? found.packageManager,
    installCommand: plan.installCommand ?? own.installCommand,
    buildCommand: plan.buildCommand ?? own.buildCommand,
    startCommand: plan.startCommand ?? own.startCommand,
    outputDirectory: plan.outputDirectory ?? found.outputDirectory,
    dockerfile: plan.dockerfile ?? found.dockerfile,
    port: plan.port ?? numberOf(environment.get("PORT")?.reveal() ?? plan.publicEndpoints[0]?.port) ?? found.port,
    projectType,
  };
}

/** A Dockerfile says itself what is run. */
const NO_COMMANDS = { installCommand: null, buildCommand: null, startCommand: null };

function numberOf(port: string | number | undefined): number | null {
  return port !== undefined && /^[1-9]\d{0,4}$/.test(`${port}`) && Number(port) <= 65_535 ? Number(port) : null;
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

async function build(run: Run): Promise<void> {
  const { plan } = run.deployment;
  const commands = [
    { name: "install", command: plan.installCommand },
    { name: "build", command: plan.buildCommand },
  ] as const;
  const given = commands.flatMap(({ name, command }) => (command ? [{ name, command }] : []));
  for (const { name, command } of given) say(run, "build", `${name}: ${command}`);
  const nothing = given.length === 0 && (plan.runtime === "process" || plan.projectType === "static");
  if (nothing) return say(run, "build", "There is nothing to install or build");
  await inTime(run, "finish the build", async (signal) =>
    plan.runtime === "docker" ? buildImage(run, await detected(run), signal) : buildInFolder(run, given, signal),
  );
}

async function buildInFolder(run: Run, commands: BuildRequest["commands"], signal: AbortSignal): Promise<void> {
  const { deployment, environment } = run;
  const folder = await folderOf(run);
  await run.ports.builder.build({
    deploymentId: deployment.id,
    cacheKey: deployment.projectId,
    folder,
    workingFolder: workingFolder(folder, deployment),
    commands,
    environment,
    signal,
    log: (line, stream) => run.writer.line(line, { step: "build", stream }),
  });
}

/** Does work that may take as long as a build may, and no longer. */
async function inTime<T>({ settings, signal }: Run, what: string, work: (signal: AbortSignal) => Promise<T>) {
  const timeout = AbortSignal.timeout(settings.buildTimeoutMs);
  try {
    return await work(AbortSignal.any([signal, timeout]));
  } catch (error) {
    if (!timeout.aborted || signal.aborted) throw error;
    const seconds = Math.round(settings.buildTimeoutMs / 1000);
    throw invalid("build_timeout", `Cannot ${what}: it took longer than ${seconds} seconds (BUILD_TIMEOUT_SECONDS)`);
  }
}
