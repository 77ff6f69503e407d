import type { MemoryFiles, MemoryRepository } from "../../../../adapters/memory/git_host_data.ts";
import { HostAnswer } from "./host_answer.ts";
import { demand } from "./host_caller.ts";
import { type HostRequest, type HostRoute, repositoryOf } from "./host_route.ts";
import type { Schemas } from "./host_shapes.ts";

/** The real host lists at most this many entries of a folder, and leaves the others out silently. */
const MAX_ENTRIES = 1_000;
/** Beyond this size, files come without their content. */
const MAX_INLINE = 1_000_000;

type Content = MemoryFiles[string];
type Entry = Schemas["content-directory"][number];

/** The routes of files. */
export const CONTENT_ROUTES: readonly HostRoute[] = [
  { route: "GET /repos/:owner/:repo/contents", handle: contents },
  { route: "GET /repos/:owner/:repo/contents/:path*", handle: contents },
  { route: "GET /repos/:owner/:repo/git/trees/:sha*", handle: tree },
  { route: "GET /repos/:owner/:repo/git/blobs/:sha", handle: blob },
];

function contents(request: HostRequest): Response {
  const found = repositoryOf(request);
  demand(request.caller, "contents", "read");
  const files = filesOf(found, request.url.searchParams.get("ref"));
  const path = (request.parameters["path"] ?? "").replace(/\/+$/, "");
  const content = files[path];
  if (content === undefined) {
    const listed = entriesOf(files, path);
    if (listed.length === 0 && path !== "") throw HostAnswer.notFound();
    return Response.json(listed.slice(0, MAX_ENTRIES).map((name) => entryShape(request, found, { files, path, name })));
  }
  const target = linkTarget(files, path, content);
  return Response.json(fileShape(request, found, path, target ?? content));
}

/** Returns the content that a symlink leads to, if that is a regular file of the repository. */
function linkTarget(files: MemoryFiles, path: string, content: Content): Content | undefined {
  if (!isLink(content)) return undefined;
  const target = files[new URL(content.link, `file:///${path}`).pathname.slice(1)];
  return isRegular(target) ? target : undefined;
}

function filesOf(found: MemoryRepository, ref: string | null): MemoryFiles {
  if (found.branches.size === 0) throw HostAnswer.notFound("This repository is empty.");
  const branch = found.branches.get(ref ?? found.repository.defaultBranch);
  if (!branch) throw HostAnswer.notFound(`No commit found for the ref ${ref}`);
  return branch.files;
}

function entriesOf(files: MemoryFiles, folder: string): string[] {
  const prefix = folder === "" ? "" : `${folder}/`;
  const inside = Object.keys(files).filter((path) => path.startsWith(prefix));
  return [...new Set(inside.map((path) => path.slice(prefix.length).split("/")[0]!))].sort();
}

function entryShape(
  { api, state }: HostRequest,
  found: MemoryRepository,
  { files, path: folder, name }: { readonly files: MemoryFiles; readonly path: string; readonly name: string },
): Entry {
  const path = folder === "" ? name : `${folder}/${name}`;
  const content = files[path];
  const sha = content === undefined ? state.sha(path) : shaOf(content);
  const base = `${api}/repos/${found.repository.fullName}`;
  const isTree = content === undefined || isSubmodule(content);
  const gitUrl = `${base}/git/${isTree ? "trees" : "blobs"}/${sha}`;
  const self = `${base}/contents/${path.split("/").map(encodeURIComponent).join("/")}`;
  const html = `${found.repository.htmlUrl}/${isTree ? "tree" : "blob"}/main/${path}`;
  return {
    // The real host calls submodules files here, for the sake of old clients.
    type: content === undefined ? "dir" : isLink(content) ? "symlink" : "file",
    size: bytesOf(content).length,
    name,
    path,
    sha,
    url: self,
    git_url: gitUrl,
    html_url: html,
    download_url: isTree ? null : `${found.repository.htmlUrl}/raw/main/${path}`,
    _links: { git: gitUrl, html, self },
  };
}

function fileShape(request: HostRequest, found: MemoryRepository, path: string, content: Content): object {
  const folder = path.split("/").slice(0, -1).join("/");
  const name = path.split("/").at(-1)!;
  const entry = entryShape(request, found, { files: { [path]: content }, path: folder, name });
  if (isSubmodule(content)) {
    const url = `${found.repository.htmlUrl}-part.git`;
    const shape: Schemas["content-submodule"] = { ...entry, type: "submodule", submodule_git_url: url };
    return shape;
  }
  if (isLink(content)) {
    const shape: Schemas["content-symlink"] = { ...entry, type: "symlink", target: content.link };
    return shape;
  }
  const bytes = bytesOf(content);
  const isInline = bytes.length <= MAX_INLINE;
  const shape: Schemas["content-file"] = {
    ...entry,
    type: "file",
    encoding: isInline ? "base64" : "none",
    content: isInline ? base64Of(bytes) : "",
  };
  return shape;
}

function tree(request: HostRequest): Response {
  const { state, parameters } = request;
  const found = repositoryOf(request);
  demand(request.caller, "contents", "read");
  const sha = parameters["sha"]!;
  const known = state.trees.get(`${found.repository.id} ${sha}`) ?? { branch: sha, path: "" };
  const files = found.branches.get(known.branch)?.files;
  if (!files) throw HostAnswer.notFound();
  const listed: Schemas["git-tree"]["tree"] = entriesOf(files, known.path).map((name) => {
    const path = known.path === "" ? name : `${known.path}/${name}`;
    const content = files[path];
    const id = content === undefined ? state.sha(`${known.branch} ${path}`) : shaOf(content);
    if (content === undefined) {
      const { fullName: repository } = found.repository;
      state.trees.set(`${found.repository.id} ${id}`, { repository, branch: known.branch, path });
      return { path: name, mode: "040000", type: "tree", sha: id };
    }
    if (isSubmodule(content)) return { path: name, mode: "160000", type: "commit", sha: id };
    const size = bytesOf(content).length;
    return { path: name, mode: isLink(content) ? "120000" : "100644", type: "blob", sha: id, size };
  });
  const shape: Schemas["git-tree"] = { sha: state.sha(sha), truncated: false, tree: listed };
  return Response.json(shape);
}

function blob(request: HostRequest): Response {
  const found = repositoryOf(request);
  demand(request.caller, "contents", "read");
  const sha = request.parameters["sha"]!;
  for (const { files } of found.branches.values()) {
    const content = Object.values(files).find((each) => shaOf(each) === sha);
    if (content === undefined) continue;
    const bytes = bytesOf(content);
    const url = `${request.api}/repos/${found.repository.fullName}/git/blobs/${sha}`;
    const shape: Schemas["blob"] = {
      content: base64Of(bytes),
      encoding: "base64",
      url,
      sha,
      size: bytes.length,
      node_id: `B_${sha}`,
    };
    return Response.json(shape);
  }
  throw HostAnswer.notFound();
}

/** Encodes in lines, as the real host does. */
function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll(/.{60}/g, "$&\n");
}

function isLink(content: Content | undefined): content is { readonly link: string } {
  return typeof content === "object" && "link" in content;
}

function isSubmodule(content: Content | undefined): content is { readonly submodule: string } {
  return typeof content === "object" && "submodule" in content;
}

function isRegular(content: Content | undefined): content is string | Uint8Array {
  return content !== undefined && !isLink(content) && !isSubmodule(content);
}

function bytesOf(content: Content | undefined): Uint8Array {
  if (content === undefined || isSubmodule(content)) return new Uint8Array();
  return Buffer.from(isLink(content) ? content.link : content);
}

function shaOf(content: Content): string {
  if (isSubmodule(content)) return content.submodule;
  const bytes = bytesOf(content);
  return new Bun.CryptoHasher("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
