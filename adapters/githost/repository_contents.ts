import { branchNotFound, fileNotFound, fileTooLarge, repositoryNotFound } from "../../domain/githost/host_failures.ts";
import {
  type FileEntry,
  fullName,
  MAX_FILE_BYTES,
  type RepositoryFile,
  type RepositoryName,
} from "../../domain/githost/repository.ts";
import type { RepositoryPath } from "../../ports/githost/git_repositories.ts";
import { numberIn, textIn } from "./answer_fields.ts";
import type { HostCall } from "./host_call.ts";
import { hasReason, hasStatus } from "./host_failure.ts";
import { UnusableAnswer } from "./host_fetch.ts";
import { isBranchName, pathParts } from "./host_names.ts";
import { readRepository } from "./repository_from.ts";

/** The git host lists at most this many entries of a folder, and leaves the others out silently. */
const MAX_LISTED = 1_000;
const BYTES_PER_ENTRY = 400;
const TREE_TYPES: Readonly<Record<string, FileEntry["type"]>> = { "120000": "symlink", "160000": "submodule" };

/** Something at a path, as the git host describes it. */
interface HostEntry {
  readonly type: string;
  readonly size: number;
  readonly name: string;
  readonly path: string;
  readonly sha: string;
  readonly git_url: string | null;
  readonly encoding?: string;
  readonly content?: string;
}

/** Lists a folder. */
export async function readFolder(
  call: HostCall,
  name: RepositoryName,
  at: RepositoryPath,
): Promise<readonly FileEntry[]> {
  const found = await read(call, name, at, "folder");
  if (!Array.isArray(found)) throw fileNotFound(name, { path: at.path, wanted: "folder" });
  return found.length < MAX_LISTED ? found : await readTree(call, name, at);
}

/** Reads a file. */
export async function readFile(call: HostCall, name: RepositoryName, at: RepositoryPath): Promise<RepositoryFile> {
  const found = await read(call, name, at, "file");
  if (!("content" in found)) throw fileNotFound(name, { path: at.path, wanted: "file" });
  if (found.size > MAX_FILE_BYTES) throw fileTooLarge(at.path);
  const bytes = found.content ?? (await readBlob(call, name, found.sha));
  if (bytes.length !== found.size) throw new UnusableAnswer("its answer contains only a part of the file");
  return { path: found.path, sha: found.sha, size: found.size, bytes: Uint8Array.from(bytes) };
}

/** Explains why nothing is at a path: the repository, the branch or the path is missing. */
export async function whyMissing(
  call: HostCall,
  name: RepositoryName,
  { path, branch }: RepositoryPath,
  wanted: "file" | "folder",
): Promise<Error> {
  try {
    const { defaultBranch } = await readRepository(call, name);
    if (!(await hasBranch(call, name, branch ?? defaultBranch))) return branchNotFound(name, branch ?? defaultBranch);
    return fileNotFound(name, { path, wanted });
  } catch (error) {
    if (hasStatus(error, 404)) return repositoryNotFound(name);
    throw error;
  }
}

async function hasBranch(call: HostCall, name: RepositoryName, branch: string): Promise<boolean> {
  if (!isBranchName(branch)) return false;
  const asked = call.send(({ rest }, options) => rest.repos.getBranch({ ...name, branch, ...options }));
  return await asked.then(
    () => true,
    (error: unknown) => {
      if (hasStatus(error, 404)) return false;
      throw error;
    },
  );
}

/** About how much memory an answer takes. */
function bytesOf(found: readonly FileEntry[] | FileFound | OtherFound): number {
  if (Array.isArray(found)) return (found.length + 1) * BYTES_PER_ENTRY;
  return BYTES_PER_ENTRY + ("content" in found ? (found.content?.length ?? 0) : 0);
}

type FileFound = Omit<RepositoryFile, "bytes"> & { readonly content: Uint8Array | undefined };
type OtherFound = { readonly type: string };

async function read(
  call: HostCall,
  name: RepositoryName,
  at: RepositoryPath,
  wanted: "file" | "folder",
): Promise<readonly FileEntry[] | FileFound | OtherFound> {
  const parts = pathParts(at.path);
  if (!parts || (at.branch !== undefined && !isBranchName(at.branch))) throw await whyMissing(call, name, at, wanted);
  const ref = at.branch === undefined ? {} : { ref: at.branch };
  const path = parts.join("/");
  const key = `contents ${fullName(name)} ${JSON.stringify([path, at.branch])}`;
  try {
    return await call.read(
      key,
      ({ rest }, options) => rest.repos.getContent({ ...name, path, ...ref, ...options }),
      (data) => (Array.isArray(data) ? data.map(entryFrom) : fileFrom(data)),
      bytesOf,
    );
  } catch (error) {
    if (hasStatus(error, 403) && hasReason(error, "too_large")) throw fileTooLarge(at.path);
    throw error;
  }
}

function entryFrom({ type, size, git_url: gitUrl, ...data }: HostEntry): FileEntry {
  const named = { name: textIn(data.name), path: textIn(data.path), sha: textIn(data.sha) };
  const isSubmodule = type === "submodule" || (type === "file" && gitUrl?.includes("/git/trees/"));
  if (isSubmodule) return { ...named, type: "submodule", size: 0 };
  return { ...named, type: type === "dir" || type === "symlink" ? type : "file", size: numberIn(size) };
}

/** Converts a file; larger ones come without their content. */
function fileFrom(data: HostEntry): FileFound | OtherFound {
  if (data.type !== "file") return { type: data.type };
  const isComplete = data.encoding === "base64" && (data.content || data.size === 0);
  const content = isComplete ? Buffer.from(data.content ?? "", "base64") : undefined;
  return { path: textIn(data.path), sha: textIn(data.sha), size: numberIn(data.size), content };
}

async function readBlob(call: HostCall, name: RepositoryName, sha: string): Promise<Uint8Array> {
  const { data } = await call.send(({ rest }, options) => rest.git.getBlob({ ...name, file_sha: sha, ...options }));
  return Buffer.from(data.content, "base64");
}

/** Lists a folder by its git tree, level by level. */
async function readTree(call: HostCall, name: RepositoryName, at: RepositoryPath): Promise<readonly FileEntry[]> {
  let sha = at.branch ?? (await readRepository(call, name)).defaultBranch;
  const parts = pathParts(at.path) ?? [];
  for (const part of parts) {
    const folder = (await treeOf(call, name, sha)).find(({ path, type }) => path === part && type === "tree");
    if (!folder) throw fileNotFound(name, { path: at.path, wanted: "folder" });
    sha = folder.sha;
  }
  return (await treeOf(call, name, sha)).map(({ path, mode, type, size, sha: id }) => ({
    name: textIn(path),
    path: [...parts, path].join("/"),
    type: type === "tree" ? "dir" : (TREE_TYPES[mode] ?? "file"),
    size: numberIn(size ?? 0),
    sha: textIn(id),
  }));
}

async function treeOf(call: HostCall, name: RepositoryName, sha: string) {
  const { data } = await call.send(({ rest }, options) => rest.git.getTree({ ...name, tree_sha: sha, ...options }));
  if (data.truncated) throw new UnusableAnswer("it lists only a part of the folder");
  return data.tree;
}
