import { LinkResolver } from "../../../domain/archive/link_resolver.ts";
import { shown } from "../../../domain/archive/refusal.ts";
import type { TreeNode } from "../../../domain/archive/tree_node.ts";
import { invalid } from "../../../domain/failure.ts";

/**
 * The folders and symlinks of a build context. Files are not needed, because a symlink that ends at one leads no
 * further.
 */
export class ContextLinks {
  readonly #root: TreeNode = node("", undefined, "folder");
  readonly #links = new Map<TreeNode, string>();

  /** Adds a folder; its parents must have been added before. */
  folder(path: string): void {
    this.#add(path, "folder");
  }

  /** Adds a symlink by its relative path. */
  link(path: string, target: string): void {
    const link = this.#add(path, "link");
    link.target = target;
    this.#links.set(link, path);
  }

  /** Throws `link_outside` unless every symlink, followed through all others, stays inside. */
  check(): void {
    const resolver = new LinkResolver();
    for (const [link, path] of this.#links) {
      const refused = (reason: string) =>
        invalid("link_outside", `Cannot build: the link ${shown(path)} to ${shown(link.target)} ${reason}`);
      if (link.target.startsWith("/")) throw refused("is absolute; use links inside the folder");
      resolver.checkOr(link, refused);
    }
  }

  #add(path: string, kind: "folder" | "link"): TreeNode {
    const parts = path.split("/");
    const name = parts.pop()!;
    const parent = parts.reduce((at, part) => at.children.get(part)!, this.#root);
    const added = node(name, parent, kind);
    parent.children.set(name, added);
    return added;
  }
}

function node(name: string, parent: TreeNode | undefined, kind: "folder" | "link"): TreeNode {
  return { name, parent, kind, children: new Map(), target: "" };
}
