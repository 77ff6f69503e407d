import { unpack } from "../../domain/archive/unpack.ts";
import { conflict, type Failure, invalid, invalidField } from "../../domain/failure.ts";
import type { ReleaseFolder, ReleaseFolders } from "../../ports/deployments/release_folders.ts";
import type { ReadOptions, TreeEntry } from "../../ports/projects/upload_files.ts";
import { MemoryTree } from "./memory_tree.ts";

interface Release {
  readonly path: string;
  tree: MemoryTree;
  finished: boolean;
}

const LIMITS = { maxBytes: 2 ** 30, maxUnpackedBytes: 2 ** 30, maxEntries: 10_000 };
const ROOT = "/releases";
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const LEFT_OUT = new Set(["node_modules", ".git"]);

/** Simulated release folders. `write` adds the files that a build would create. */
export class MemoryReleaseFolders implements ReleaseFolders {
  readonly #releases = new Map<string, Release>();
  /** How often the folder of each deployment was created. */
  readonly #made = new Map<string, number>();

  /** Writes a file into a folder that `make` created. */
  write(folder: string, path: string, content: string): void {
    this.tree(folder).write(path, content);
  }

  /** Returns the mutable tree at a path that `make` created, or a copy of a subfolder of it. */
  tree(folder: string): MemoryTree {
    const release = this.#releases.values().find(({ path }) => folder === path || folder.startsWith(`${path}/`));
    if (!release) throw gone();
    return release.tree.below(folder.slice(release.path.length + 1));
  }

  async make(deploymentId: string): Promise<string> {
    if (!SAFE_ID.test(deploymentId)) throw invalidField("deploymentId", "it is not the id of a deployment");
    const count = (this.#made.get(deploymentId) ?? 0) + 1;
    this.#made.set(deploymentId, count);
    const path = `${ROOT}/${deploymentId}${count === 1 ? "" : `.${count}`}`;
    this.#releases.set(deploymentId, { path, tree: new MemoryTree(), finished: false });
    return path;
  }

  async find(deploymentId: string): Promise<ReleaseFolder | undefined> {
    const release = this.#releases.get(deploymentId);
    return release && { path: release.path, finished: release.finished };
  }

  async finish(deploymentId: string): Promise<void> {
    this.#release(deploymentId).finished = true;
  }

  async remove(deploymentId: string): Promise<void> {
    this.#releases.delete(deploymentId);
  }

  async copy(fromDeploymentId: string, toDeploymentId: string): Promise<boolean> {
    const from = this.#releases.get(fromDeploymentId);
    if (!from?.finished) return false;
    this.#release(toDeploymentId).tree = new MemoryTree(from.tree.nodes());
    return true;
  }

  async place(deploymentId: string, path: string, tar: ReadableStream<Uint8Array>): Promise<void> {
    const release = this.#release(deploymentId);
    const prefix = path === "" ? "" : `${path}/`;
    const placed = new Map<string, string>();
    let last: string | undefined;
    for await (const step of unpack(tar, { limits: LIMITS, plain: true })) {
      if (step.type === "file") placed.set((last = prefix + step.path.slice(step.path.indexOf("/") + 1)), "");
      else if (step.type === "bytes") placed.set(last!, placed.get(last!) + new TextDecoder().decode(step.bytes));
    }
    release.tree.remove(path);
    for (const [name, content] of placed) release.tree.write(name, content);
  }

  async *entries(deploymentId: string): AsyncGenerator<TreeEntry> {
    for (const [path, node] of this.#releases.get(deploymentId)?.tree.nodes() ?? []) {
      if (path.split("/").some((part) => LEFT_OUT.has(part))) continue;
      yield { path, type: node.kind, size: node.kind === "file" ? Buffer.byteLength(node.content) : 0 };
    }
  }

  async read(deploymentId: string, path: string, { maxBytes, tooLarge }: ReadOptions): Promise<Uint8Array | undefined> {
    const node = this.#releases.get(deploymentId)?.tree.at(path);
    const bytes = node?.kind === "file" ? new TextEncoder().encode(node.content) : undefined;
    if (bytes === undefined || bytes.length <= maxBytes) return bytes;
    if (tooLarge) throw tooLarge();
    return undefined;
  }

  async digest(
    deploymentId: string,
    path: string,
  ): Promise<{ readonly kind: "file" | "folder"; readonly digest: string } | undefined> {
    const parts = path.split("/").filter((part) => part !== "" && part !== ".");
    if (path.startsWith("/") || path.includes("\0") || parts.includes("..")) throw overLink();
    const tree = this.#releases.get(deploymentId)?.tree;
    for (let depth = 1; depth <= parts.length; depth++) {
      if (tree?.at(parts.slice(0, depth).join("/"))?.kind === "link") throw overLink();
    }
    const node = tree?.at(parts.join("/"));
    if (!tree || !node || node.kind === "link") return undefined;
    const below = tree.below(parts.join("/")).nodes();
    const seen = node.kind === "file" ? [] : below.filter(([each]) => !each.split("/").includes(".git"));
    const text = JSON.stringify([parts.length === 0 ? null : node, seen]);
    return { kind: node.kind, digest: `sha256:${new Bun.CryptoHasher("sha256").update(text).digest("hex")}` };
  }

  async *list(): AsyncGenerator<string> {
    yield* this.#releases.keys();
  }

  #release(deploymentId: string): Release {
    const release = this.#releases.get(deploymentId);
    if (!release) throw gone();
    return release;
  }
}

function overLink() {
  return invalid("link_outside", "Cannot use this path: it leads through a link or out of the folder");
}

function gone(): Failure {
  return conflict("release_folder_gone", "Cannot continue this deployment: its release folder no longer exists");
}
