import type { Commit } from "../../../../domain/deployments/commit.ts";
import type { Deployment, DeploymentSource } from "../../../../domain/deployments/deployment.ts";
import type { FetchableSource } from "../../../../ports/projects/sources.ts";
import { dropUpload } from "../../cleanup/drop_upload.ts";
import { linkAdvice } from "../../sources/link_advice.ts";
import { sshAccess } from "../../sources/ssh_access.ts";
import { withBuildTimeout } from "./build_timeout.ts";
import { artifactGone } from "../../../services/release_folder.ts";
import { type Run, logLine, store } from "../run.ts";

/** A run with the ports of this step. */
type StepRun = Run<"deployKeys" | "keptSources" | "releaseFolders" | "sources" | "uploadFiles">;

/**
 * Fetches the source of a deployment into its release folder. Files that came from a folder are also kept unchanged,
 * because a build may change the release folder.
 */
export async function fetchSource(
  run: StepRun,
  source: Exclude<DeploymentSource, { kind: "artifact" }>,
): Promise<void> {
  const { keptSources, releaseFolders } = run.ports;
  const { id } = run.deployment;
  const folder = await releaseFolders.make(id);
  if (source.kind === "none") return;
  await withBuildTimeout(
    run,
    "fetch the source",
    async (signal) => {
      if (source.kind === "git") return noteCommit(run, await fetchInto(run, source, { folder, signal }));
      const isKept = (await keptSources.has(id)) || (await keepSource(run, source, signal));
      const isThere = isKept ? await keptSources.copyTo(id, folder, { signal }) : await copyRelease(run, source);
      if (!isThere) throw artifactGone();
    },
    run.signal,
  );
}

/** Keeps the source of a deployment; returns `false` if it copies a release whose own source is not kept. */
async function keepSource(
  run: StepRun,
  source: Extract<DeploymentSource, { kind: "upload" | "local" | "copy" }>,
  signal: AbortSignal,
): Promise<boolean> {
  const { keptSources } = run.ports;
  const { id } = run.deployment;
  if (source.kind === "copy") return keptSources.share(source.deploymentId, id);
  await keptSources.keep(id, async (folder) => void (await fetchInto(run, source, { folder, signal, shared: true })));
  await dropUpload(run.ports, run.deployment);
  return true;
}

/** Releases that predate kept sources are rebuilt from their release folder. */
function copyRelease({ deployment, ports }: StepRun, source: DeploymentSource): Promise<boolean> {
  return source.kind === "copy"
    ? ports.releaseFolders.copy(source.deploymentId, deployment.id)
    : Promise.resolve(false);
}

interface Target {
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly shared?: boolean;
}

async function fetchInto(run: StepRun, source: FetchableSource, target: Target): Promise<Commit> {
  const log = (line: string, stream: "stdout" | "stderr") => run.writer.line(line, { step: "fetch", stream });
  const ssh = await sshAccess(run.ports, run.project, source);
  const sourceUrl = source.kind === "git" ? source.url : "";
  // A fork may name any private repository of the owner as a submodule.
  const isTrusted = (url: string) => url === sourceUrl || !run.deployment.pullRequest?.fork;
  const credentialFor = async (url: string) =>
    isTrusted(url) ? run.settings.credentialFor(run.project, { url, sourceUrl }, target.signal) : undefined;
  const loginAdvice = linkAdvice(run.project);
  const into = { ...target, log, credentialFor, ...(loginAdvice && { loginAdvice }), ...(ssh && { ssh }) };
  return run.ports.sources.fetch(exactly(source, run.deployment), into);
}

async function noteCommit(run: Run, commit: Commit): Promise<void> {
  const { commitSha, commitMessage } = commit;
  if (commitSha)
    logLine(run, "fetch", `At commit ${commitSha.slice(0, 12)}${commitMessage ? `: ${commitMessage}` : ""}`);
  await store(run, (deployment) => (commitSha ? { ...deployment, ...commit } : deployment));
}

/** Fixes the commit once it was fetched, so that a retry builds the same one even if the branch has moved. */
function exactly(source: FetchableSource, { commitSha }: Deployment): FetchableSource {
  return source.kind === "git" ? { ...source, commit: source.commit ?? commitSha } : source;
}
