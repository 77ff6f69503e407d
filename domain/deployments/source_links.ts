import { LinkResolver } from "../archive/link_resolver.ts";
import { shown } from "../archive/refusal.ts";
import type { TreeNode } from "../archive/tree_node.ts";
import { type Failure, invalid } from "../failure.ts";

const NO_CHILDREN = new Map<string, TreeNode>();

/** The folders and symlinks of a source on disk. Files are not needed: a symlink cannot lead beyond one. */
export class SourceLinks {
  readonly #root: TreeNode = { name: "", parent: undefined, kind: "folder", children: new Map(), target: "" };
  readonly #links = new Map<TreeNode, string>();

  /** Adds a folder; its parents must have been added before. */
  folder(path: string): void {
    this.#add(path, { kind: "folder", target: "" });
  }

  /** Adds a symlink by its relative path. */
  link(path: string, target: string): void {
    this.#links.set(this.#add(path, { kind: "link", target }), path);
  }

  /** Throws unless every symlink, resolved through all others, stays inside; same rules as for uploads. */
  check(): void {
    const resolver = new LinkResolver();
    for (const [node, path] of this.#links) {
      const refused = (reason: string) => refusedLink(path, node.target, reason);
      if (node.target.startsWith("/")) throw refused("is absolute; only links inside the source are kept");
      // Bytes that are not UTF-8 are decoded to this; the target of such a symlink cannot be known.
      if (`${path}${node.target}`.includes("\uFFFD")) throw refused("is not written in UTF-8");
      resolver.checkOr(node, refused);
    }
  }

  #add(path: string, { kind, target }: Pick<TreeNode, "kind" | "target">): TreeNode {
    const parts = path.split("/");
    const name = parts.pop()!;
    const parent = parts.reduce((node, part) => node.children.get(part)!, this.#root);
    const node = {
      name,
      parent,
      kind,
      children: kind === "folder" ? new Map<string, TreeNode>() : NO_CHILDREN,
      target,
    };
    parent.children.set(name, node);
    return node;
  }
}

function refusedLink(path: string, target: string, reason: string): Failure {
  return invalid(
    "source_link_refused",
    `Cannot use this source: the link ${shown(path)} to ${shown(target)} ${reason}`,
  );
}
