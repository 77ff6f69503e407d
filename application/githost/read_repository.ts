import { invalid, invalidField } from "../../domain/failure.ts";
import type { Branch, FileEntry, RepositoryFile, RepositoryName } from "../../domain/githost/repository.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import { type Listing, pageOf, type SearchedPage } from "../../domain/page.ts";
import { isBranchName, isInnerPath } from "../../domain/projects/project.ts";
import type { GitRepositories, RepositoryPath } from "../../ports/githost/git_repositories.ts";
import type { SourcedRepository } from "./list_repositories.ts";
import { reachRepository, type ReachRepositoryPorts } from "./reach_repository.ts";

export interface ReadRepositoryPorts extends ReachRepositoryPorts {
  readonly gitRepositories: GitRepositories;
}

/** Returns a repository, with all of its branches if they are wanted. */
export function findRepository(ports: ReadRepositoryPorts) {
  const reach = reachRepository(ports);
  const { gitRepositories } = ports;
  return async function (
    by: Principal,
    name: RepositoryName,
    { withBranches }: { readonly withBranches: boolean },
    signal: AbortSignal,
  ): Promise<SourcedRepository & { readonly branches?: readonly Branch[] }> {
    const { value, source } = await reach(
      by,
      { name, permission: "githost:read" },
      async (access) => {
        const repository = await gitRepositories.find(access, name, signal);
        return withBranches
          ? { ...repository, branches: await gitRepositories.branches(access, name, signal) }
          : repository;
      },
      signal,
    );
    return { ...value, source };
  };
}

/** Lists the branches of a repository, optionally only those whose name contains a text. */
export function listBranches(ports: ReadRepositoryPorts) {
  const reach = reachRepository(ports);
  return async function (
    by: Principal,
    name: RepositoryName,
    page: SearchedPage,
    signal: AbortSignal,
  ): Promise<Listing<Branch>> {
    const { value } = await reach(
      by,
      { name, permission: "githost:list" },
      (access) => ports.gitRepositories.branches(access, name, signal),
      signal,
    );
    return pageOf(value, page, (branch) => branch.name);
  };
}

/** Lists a folder of a repository, optionally only entries whose name contains a text. */
export function listFiles(ports: ReadRepositoryPorts) {
  const reach = reachRepository(ports);
  return async function (
    by: Principal,
    name: RepositoryName,
    { path, branch, ...page }: RepositoryPath & SearchedPage,
    signal: AbortSignal,
  ): Promise<Listing<FileEntry>> {
    const at = { path, branch };
    const place = { ...at, path: plainPath("path", at.path) };
    checkBranch(at);
    const { value } = await reach(
      by,
      { name, permission: "githost:list" },
      (access) => ports.gitRepositories.files(access, name, place, signal),
      signal,
    );
    return pageOf(value, page, (entry) => entry.name);
  };
}

/** A file of a repository: parsed if it is JSON, else as text. */
export type ReadFile = Pick<RepositoryFile, "path" | "sha" | "size"> &
  ({ readonly json: unknown } | { readonly content: string });

/** Reads a file of a repository. A name that ends with `.json` is parsed. */
export function readRepositoryFile(ports: ReadRepositoryPorts) {
  const reach = reachRepository(ports);
  return async function (
    by: Principal,
    name: RepositoryName,
    at: RepositoryPath,
    signal: AbortSignal,
  ): Promise<ReadFile> {
    const place = { ...at, path: plainPath("file", at.path) };
    if (place.path === "") throw invalidField("file", "give the path of a file");
    checkBranch(at);
    const { value } = await reach(
      by,
      { name, permission: "githost:read" },
      (access) => ports.gitRepositories.file(access, name, place, signal),
      signal,
    );
    const { path, sha, size, bytes } = value;
    const content = new TextDecoder().decode(bytes);
    return path.endsWith(".json") ? { path, sha, size, json: parsed(content) } : { path, sha, size, content };
  };
}

/** Returns a path without leading, trailing and repeated slashes. Refuses one that leads out of the repository. */
function plainPath(field: string, path: string): string {
  const plain = path.split("/").filter((part) => part !== "" && part !== ".");
  // oxlint-disable-next-line no-control-regex
  const isOdd = /[\x00-\x1f\x7f\\]/.test(path);
  if (isOdd || !isInnerPath(plain.join("/"))) throw invalidField(field, 'give a path in the repository, without ".."');
  return plain.join("/");
}

function checkBranch({ branch }: RepositoryPath): void {
  if (branch !== undefined && !isBranchName(branch)) throw invalidField("branch", "this is not a valid branch name");
}

/** Deeper than any file that people write; an answer with more levels could not be sent. */
const DEEPEST = 1_000;

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").matchAll(/[[{\]}]/g)) {
    depth += bracket === "[" || bracket === "{" ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function parsed(text: string): unknown {
  if (depthOf(text) > DEEPEST) {
    const why = `it has more than ${DEEPEST} levels. Correct it in the repository`;
    throw invalid("file_not_json", `Cannot read the file: ${why}`);
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw invalid("file_not_json", "Cannot read the file: it is not valid JSON. Correct it in the repository", {
      cause,
    });
  }
}
