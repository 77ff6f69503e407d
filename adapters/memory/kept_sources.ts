import { invalidField } from "../../domain/failure.ts";
import type { KeptSources } from "../../ports/projects/kept_sources.ts";
import { MemoryTree } from "./memory_tree.ts";

const ROOT = "/sources";
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** Keeps simulated sources. `target` returns the folder at a path that they are copied to. */
export class MemoryKeptSources implements KeptSources {
  readonly #sources = new Map<string, MemoryTree>();
  /** Sources being filled, by path. */
  readonly #parts = new Map<string, MemoryTree>();
  readonly #target: (folder: string) => MemoryTree;

  constructor(target: (folder: string) => MemoryTree) {
    this.#target = target;
  }

  /** Returns whether `keep` created a path. */
  static owns(folder: string): boolean {
    return folder.startsWith(`${ROOT}/`);
  }

  /** Returns the folder at a path that `keep` created. */
  tree(folder: string): MemoryTree {
    const tree = this.#parts.get(folder);
    if (!tree) throw new Error(`Nothing is being kept at ${folder}`);
    return tree;
  }

  async keep(deploymentId: string, fill: (folder: string) => Promise<void>): Promise<void> {
    if (!SAFE_ID.test(deploymentId)) throw invalidField("deploymentId", "it is not the id of a deployment");
    const folder = `${ROOT}/${deploymentId}.${crypto.randomUUID()}.part`;
    const tree = new MemoryTree();
    this.#parts.set(folder, tree);
    try {
      await fill(folder);
      this.#sources.set(deploymentId, tree);
    } finally {
      this.#parts.delete(folder);
    }
  }

  async share(
    fromDeploymentId: string,
    toDeploymentId: string,
    { confirm }: { readonly confirm?: () => Promise<void> } = {},
  ): Promise<boolean> {
    const source = this.#sources.get(fromDeploymentId);
    if (!source) return false;
    await confirm?.();
    this.#sources.set(toDeploymentId, source);
    return true;
  }

  async copyTo(
    deploymentId: string,
    folder: string,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<boolean> {
    const source = this.#sources.get(deploymentId);
    if (!source) return false;
    signal?.throwIfAborted();
    const target = this.#target(folder);
    for (const [path, node] of source.nodes()) {
      if (node.kind === "link") target.link(path, node.target);
      else if (node.kind === "folder") target.folder(path);
      else target.write(path, node.content);
      if (node.kind !== "link") target.chmod(path, node.mode);
    }
    return true;
  }

  async has(deploymentId: string): Promise<boolean> {
    return this.#sources.has(deploymentId);
  }

  async remove(deploymentId: string): Promise<void> {
    this.#sources.delete(deploymentId);
  }

  async *list(): AsyncGenerator<string> {
    yield* this.#sources.keys();
  }
}
