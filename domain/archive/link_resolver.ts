import { refusal, shown } from "./refusal.ts";
import type { TreeNode } from "./tree_node.ts";

/** The number of symlinks that the Linux kernel follows before it gives up. */
const MAX_HOPS = 40;

/** The target of a symlink; `node` is `undefined` when the tree has nothing there. */
interface Resolution {
  readonly node: TreeNode | undefined;
  /** The number of symlinks followed, including this one. */
  readonly hops: number;
}

/** Resolves the symlinks of one complete tree. */
export class LinkResolver {
  // Resolves each symlink once: chains of symlinks would otherwise take exponential time.
  readonly #resolved = new Map<TreeNode, Resolution>();

  /**
   * Throws unless a symlink, resolved through all others, stays inside the tree. It may dangle, but must not form a
   * loop or contain `..` after a missing segment: whatever is created there later could lead anywhere.
   */
  check(link: TreeNode, path: string): void {
    this.checkOr(link, (reason) =>
      refusal("archive_link_refused", `the link ${shown(path)} to ${shown(link.target)} ${reason}`),
    );
  }

  /** Same as `check`, but throws the error that the caller makes. */
  checkOr(link: TreeNode, refused: (reason: string) => Error): void {
    this.#follow(link, 1, refused);
  }

  #follow(link: TreeNode, depth: number, refused: (reason: string) => Error): Resolution {
    const known = this.#resolved.get(link);
    if (known !== undefined) return known;
    if (depth > MAX_HOPS) throw refused(`is circular or leads through more than ${MAX_HOPS} links`);
    let hops = 1;
    let node = link.parent;
    for (const part of link.target.split("/")) {
      if (part === "" || part === ".") continue;
      if (part === "..") {
        if (node?.kind !== "folder") throw refused("goes up from something that is not a folder of the archive");
        if (node.parent === undefined) throw refused("leaves the folder; only links inside it are kept");
        node = node.parent;
        continue;
      }
      node = node?.children.get(part);
      if (node?.kind !== "link") continue;
      const further = this.#follow(node, depth + 1, refused);
      hops += further.hops;
      if (hops > MAX_HOPS) throw refused(`is circular or leads through more than ${MAX_HOPS} links`);
      node = further.node;
    }
    const resolution = { node, hops };
    this.#resolved.set(link, resolution);
    return resolution;
  }
}
