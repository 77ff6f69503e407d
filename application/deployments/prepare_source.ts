import type { Detection } from "../../domain/detection/detection.ts";
import type { DeploymentSource } from "../../domain/deployments/deployment.ts";
import { preparedFolder } from "../../domain/deployments/prepared_folder.ts";
import { Failure, invalidField } from "../../domain/failure.ts";
import { allowsSomewhere, forbidden, type Principal } from "../../domain/identity/permission.ts";
import { checkGitUrl, isBranchName, isGitName } from "../../domain/projects/project.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { ReleaseFolders } from "../../ports/deployments/release_folders.ts";
import type { FetchTarget, Sources } from "../../ports/projects/sources.ts";
import type { LinkedProjects } from "../../ports/githost/linked_projects.ts";
import { cloneCredential, type CloneCredentialPorts } from "../githost/clone_credential.ts";
import { seesRepository } from "../../domain/githost/repository_visibility.ts";
import { treeOf } from "./sources/detect_in.ts";
import { detectProject, type DetectProjectPorts } from "../projects/uploads/detect_project.ts";
import { RESPONSE_TIMEOUT_MS } from "../system/response_timeout.ts";
import { Slots } from "../system/slots.ts";
import { checkLocalPath, type CheckLocalPathPorts } from "../projects/check_local_path.ts";

/** Limited, because each may keep a git process waiting for a host. */
const AT_ONCE = 8;

export interface PrepareSourcePorts extends CheckLocalPathPorts, CloneCredentialPorts, DetectProjectPorts {
  readonly clock: Clock;
  readonly linkedProjects: LinkedProjects;
  readonly releaseFolders: ReleaseFolders;
  readonly sources: Sources;
  /** How long fetching may take; defaults to 50 s. */
  readonly prepareLimitMs?: number;
}

/** The source to inspect: a repository of the git host, of any git server, or a folder of the machine. */
export type PrepareRequest =
  | { readonly source: "githost"; readonly owner: string; readonly repo: string; readonly branch?: string | undefined }
  | { readonly source: "git"; readonly gitUrl: string; readonly branch?: string | undefined }
  | { readonly source: "local"; readonly path: string };

/** Detects what a repository or folder is and how it would be built. Creates nothing and runs none of its code. */
export function prepareSource(ports: PrepareSourcePorts) {
  const checkPath = checkLocalPath(ports);
  const { prepareLimitMs: limitMs = RESPONSE_TIMEOUT_MS } = ports;
  const slots = new Slots(AT_ONCE);
  const credential = cloneCredential(ports);
  return async function (by: Principal, request: PrepareRequest, signal: AbortSignal): Promise<Detection> {
    if (!allowsSomewhere(by, "deployment:write")) throw forbidden("deployment:write");
    if (request.source === "local") await checkPath(by, request.path, { field: "path" });
    const source = sourceOf(ports, request);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(notInTime(request, limitMs)), limitMs);
    const both = AbortSignal.any([signal, late.signal]);
    try {
      const credentialFor = await credentials(by, request, both);
      const target = { signal: both, ...(credentialFor && { credentialFor }) };
      return await slots.run(() => recognised(source, target), { signal: both, owner: by.userId });
    } finally {
      clearTimeout(timer);
    }
  };

  /** Lets those who see a repository of the git host read it as the connection does, others as the public. */
  async function credentials(
    by: Principal,
    request: PrepareRequest,
    signal: AbortSignal,
  ): Promise<FetchTarget["credentialFor"]> {
    if (request.source !== "githost") return undefined;
    const linked = await ports.linkedProjects.repositories(by.organizationId);
    if (!seesRepository(by, "githost:read", linked)(request)) return undefined;
    const { owner, repo } = request;
    const seesAll = seesRepository(by, "githost:read", [])({ owner, repo: "*" });
    const own = `${ports.githostUrl}/${owner}/${repo}.git`;
    // Submodules show a member no more than the member sees.
    return async (url) => (url === own || seesAll ? credential({ url, owner, user: by }, signal) : undefined);
  }

  /** Uses a temporary folder that is always removed; the sweep removes the folder of a killed server. */
  async function recognised(
    source: ReturnType<typeof sourceOf>,
    target: Pick<FetchTarget, "signal" | "credentialFor">,
  ): Promise<Detection> {
    const id = preparedFolder(ports.clock.now());
    try {
      const folder = await ports.releaseFolders.make(id);
      await ports.sources.fetch(source, { ...target, folder, log: () => {} });
      return await detectProject(ports, treeOf(ports, id));
    } finally {
      await ports.releaseFolders.remove(id);
    }
  }
}

function notInTime({ source }: PrepareRequest, limitMs: number): Failure {
  const [what, advice] =
    source === "local"
      ? ["the folder", "Choose a smaller folder, or remove what it does not need"]
      : ["the repository", `Check that the git ${source === "git" ? "server" : "host"} answers, then try again`];
  const why = `it was not fetched within ${Math.round(limitMs / 1_000)} s`;
  return new Failure("remote_failed", "source_timeout", `Cannot read ${what}: ${why}. ${advice}`);
}

function sourceOf(
  { githostUrl }: PrepareSourcePorts,
  request: PrepareRequest,
): Exclude<DeploymentSource, { kind: "artifact" | "copy" | "none" }> {
  if (request.source === "local") return { kind: "local", path: request.path };
  const url = request.source === "git" ? request.gitUrl : `${githostUrl}/${request.owner}/${request.repo}.git`;
  if (request.source === "git") checkGitUrl(url);
  else checkNames(request);
  if (request.branch !== undefined && !isBranchName(request.branch))
    throw invalidField("branch", "this is not a valid branch name");
  return { kind: "git", url, branch: request.branch ?? null, commit: null };
}

function checkNames({ owner, repo }: Extract<PrepareRequest, { source: "githost" }>): void {
  if (!isGitName(owner)) throw invalidField("owner", "this is not a valid name on a git host");
  if (!isGitName(repo)) throw invalidField("repo", "this is not a valid name on a git host");
}
