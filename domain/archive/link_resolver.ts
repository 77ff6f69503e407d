import { refusal, shown } from "./refusal.ts";
import type { TreeNode } from "./tree_node.ts";

/** As many links as a kernel follows before it gives up. */
const MAX_HOPS = 40;

/** Where a link leads: `node` is `undefined` when there is nothing in the tree. */
interface Resolution {
  readonly node: TreeNode | undefined;
  /** How many links were followed to get there, this one included. */
  readonly hops: number;
}

/** Follows the links of one complete tree. */
export class LinkResolver {
  // Each link is resolved once: links that go through links would otherwise cost exponential time.
  readonly #resolved = new Map<TreeNode, Resolution>();

  /**
   * Fails unless a link, followed through all other links, stays inside the tree. It may lead to nothing, but not in
   * circles, and not up again out of something that is missing: what appears there later could lead anywhere.
   */
  check(link: TreeNode, path: string): void {
    this.checkOr(link, (reason) =>
      refusal("archive_link_refused", `the link ${shown(path)} to ${shown(link.target)} ${reason}`),
    );
  }

  /** The same, failing with an error of the caller's own making. */
  checkOr(link: TreeNode, refused: (reason: string) => Error): void {
    this.#follow(link, 1, refused);
  }

  #follow(link: TreeNode, depth: number, refused: (reason: string) => Error): Resolution {
    const known = this.#resolved.get(link);
    if (known !== undefined) return known;
    if (depth > MAX_HOPS) throw refused(`leads in circles or over more than ${MAX_HOPS} links`);
    let hops = 1;
    let node = link.parent;
    for (const part of link.target.split("/")) {
      if (part === "" || part === ".") continue;
      if (part === "..") {
        if (node?.kind !== "folder") throw refused("goes up from something that is no folder of the archive");
        if (node.parent === undefined) throw refused("leaves the folder; only links inside it are kept");
        node = node.parent;
        continue;
      }
      node = node?.children.get(part);
      if (node?.kind !== "link") continue;
      const further = this.#follow(node, depth + 1, refused);
      hops += further.hops;
      if (hops > MAX_HOPS) throw refused(`leads in circles or over more than ${MAX_HOPS} links`);
      node = further.node;
    }
    const resolution = { node, hops };
    this.#resolved.set(link, resolution);
    return resolution;
  }
}
