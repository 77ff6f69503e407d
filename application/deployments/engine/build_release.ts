import type { Deployment, DeploymentPlan, DeploymentSource } from "../../../domain/deployment/deployment.ts";
import { happen } from "../../../domain/deployment/transitions.ts";
import type { Detection } from "../../../domain/detection/detection.ts";
import { type Failure, invalid } from "../../../domain/failure.ts";
import type { FetchableSource } from "../../../ports/sources.ts";
import { detectIn } from "../prepare_source.ts";
import { askApproval } from "./ask_approval.ts";
import { type Run, say, step, store } from "./run.ts";

/** Makes the release a deployment will run: fetched, recognised and built, or taken over from the deployment it goes back to. */
export async function buildRelease(run: Run): Promise<void> {
  const { source } = run.deployment;
  if (source.kind === "artifact" && (await run.ports.releaseFolders.find(source.deploymentId))?.finished) {
    say(run, null, "The release is still there: nothing has to be built");
    return built(run, source.deploymentId);
  }
  const { id } = run.deployment;
  const folder = await run.ports.releaseFolders.find(id);
  // A server that was killed right after the build has left a release that is complete.
  if (folder?.finished) return built(run, id);
  const wanted = source.kind === "artifact" ? source.fallback : source;
  if (!wanted || wanted.kind === "artifact") throw gone();
  if (!folder || !isPrepared(run)) {
    await step(run, "fetch", () => fetch(run, wanted));
    await step(run, "detect", () => recognise(run));
  }
  await askApproval(run);
  await step(run, "build", () => build(run));
  await run.ports.releaseFolders.finish(id);
  await built(run, id);
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
    if (!(await releaseFolders.copy(source.deploymentId, id))) throw gone();
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
  const plan = settled(run.deployment.plan, detection);
  for (const warning of detection.warnings) say(run, "detect", warning, "warn");
  if (plan.projectType === "docker" || plan.projectType === "services") {
    throw invalid(
      "runtime_unsupported",
      "Cannot run this: it needs containers, and this version runs processes and static sites only",
    );
  }
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

/** What a person set counts; the rest is as it was found. */
function settled(plan: DeploymentPlan, found: Detection): DeploymentPlan {
  const rootDirectory = [plan.rootDirectory, found.rootDirectory]
    .filter((part) => part !== null && part !== ".")
    .join("/");
  const projectType = plan.projectType ?? (plan.startCommand === null ? found.projectType : "app");
  return {
    ...plan,
    rootDirectory: rootDirectory || null,
    framework: plan.framework ?? found.framework,
    packageManager: plan.packageManager ?? found.packageManager,
    installCommand: plan.installCommand ?? found.installCommand,
    buildCommand: plan.buildCommand ?? found.buildCommand,
    startCommand: plan.startCommand ?? found.startCommand,
    outputDirectory: plan.outputDirectory ?? found.outputDirectory,
    port: plan.port ?? found.port,
    projectType,
  };
}

function described({ language }: Detection, plan: DeploymentPlan): string {
  const what = [plan.framework ?? language ?? "a project", plan.packageManager && `with ${plan.packageManager}`]
    .filter(Boolean)
    .join(" ");
  const how = plan.projectType === "static" ? "served as a static site" : `started by "${plan.startCommand}"`;
  return `Found ${what}, ${how}`;
}

async function build(run: Run): Promise<void> {
  const { deployment, environment } = run;
  const folder = await folderOf(run);
  const commands = [
    { name: "install", command: deployment.plan.installCommand },
    { name: "build", command: deployment.plan.buildCommand },
  ] as const;
  const given = commands.flatMap(({ name, command }) => (command ? [{ name, command }] : []));
  if (given.length === 0) return say(run, "build", "There is nothing to install or build");
  const log = (line: string, stream: "stdout" | "stderr") => run.writer.line(line, { step: "build", stream });
  for (const { name, command } of given) say(run, "build", `${name}: ${command}`);
  await inTime(run, "finish the build", (signal) =>
    run.ports.builder.build({
      deploymentId: deployment.id,
      cacheKey: deployment.projectId,
      folder,
      workingFolder: workingFolder(folder, deployment),
      commands: given,
      environment,
      signal,
      log,
    }),
  );
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

/** The folder of the release that a deployment runs. */
export async function folderOf(run: Run): Promise<string> {
  const folder = await run.ports.releaseFolders.find(run.deployment.artifactOf ?? run.deployment.id);
  if (!folder) throw gone();
  return folder.path;
}

/** The folder of a release that its commands run in. */
export function workingFolder(folder: string, { plan }: Deployment): string {
  return plan.rootDirectory ? `${folder}/${plan.rootDirectory}` : folder;
}

function gone(): Failure {
  return invalid(
    "artifact_gone",
    "Cannot go on: the files of that release are gone, and there is no commit to build anew",
  );
}
