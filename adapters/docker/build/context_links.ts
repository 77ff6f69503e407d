import { LinkResolver } from "../../../domain/archive/link_resolver.ts";
import { shown } from "../../../domain/archive/refusal.ts";
import type { TreeNode } from "../../../domain/archive/tree_node.ts";
import { invalid } from "../../../domain/failure.ts";

/** The folders and links of a build's context; files need not be told, as a link that ends at one cannot go on from it. */
export class ContextLinks {
  readonly #root: TreeNode = node("", undefined, "folder");
  readonly #links = new Map<TreeNode, string>();

  /** Takes in a folder; those above it were taken in before. */
  folder(path: string): void {
    this.#add(path, "folder");
  }

  /** Takes in a link by its relative path. */
  link(path: string, target: string): void {
    const link = this.#add(path, "link");
    link.target = target;
    this.#links.set(link, path);
  }

  /** Fails with `link_outside` unless every link, followed through all others, stays inside. */
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
