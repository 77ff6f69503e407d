import { checkEntries } from "./archive_limits.ts";
import { entryName, linkTarget } from "./entry_name.ts";
import { LinkResolver } from "./link_resolver.ts";
import { beyondLimit, type RefusalCode, refusal, shown } from "./refusal.ts";
import type { TarHeader, TarKind } from "./tar_header.ts";
import type { TreeNode } from "./tree_node.ts";

/** What the caller must write to disk for one accepted entry. */
export interface Accepted {
  /** Folders that do not exist yet, outermost first. */
  readonly newFolders: readonly string[];
  readonly path: string;
  /** Whether a file was already written at this path and must be removed first. */
  readonly replaces: boolean;
}

const MAX_LINK_BYTES = 16 * 1024 * 1024;
const NO_CHILDREN = new Map<string, TreeNode>();

const REFUSED_KINDS: Readonly<Partial<Record<TarKind, string>>> = {
  hard_link: "is a hard link; pack with --hard-dereference",
  device: "is a device",
  fifo: "is a named pipe",
  sparse: "is stored as a sparse file; pack without --sparse",
};

/** The tree of an archive, validated entry by entry: every accepted entry is safe to create in an empty folder. */
export class ArchiveTree {
  readonly #root: TreeNode = { name: "", parent: undefined, kind: "folder", children: new Map(), target: "" };
  readonly #maxEntries: number;
  readonly #links = new Set<TreeNode>();
  #linkBytes = 0;
  #entries = 0;
  #files = 0;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** The number of regular files in the tree. */
  get files(): number {
    return this.#files;
  }

  /** Adds one entry, or throws when it is refused or conflicts with earlier entries. */
  accept(header: TarHeader): Accepted {
    this.#count();
    const kind = acceptable(header);
    const parts = entryName(header.name);
    const name = parts.pop();
    if (name === undefined) {
      if (kind !== "folder") throw problem("archive_conflict", header, "names the whole folder but is not a folder");
      return { newFolders: [], path: "", replaces: false };
    }
    const newFolders: string[] = [];
    let folder = this.#root;
    for (const part of parts) folder = this.#enter(folder, part, { header, newFolders });
    if (kind === "folder") {
      const entered = this.#enterAgain(folder, name, { header, newFolders });
      return { newFolders, path: pathOf(entered), replaces: false };
    }
    const { node, replaces } = this.#put(folder, name, { header, kind });
    return { newFolders, path: pathOf(node), replaces };
  }

  /** Yields every symlink of the tree, each validated just before it is yielded. Call after all entries were added. */
  *links(): Generator<{ readonly path: string; readonly target: string }> {
    const resolver = new LinkResolver();
    for (const node of this.#links) {
      const path = pathOf(node);
      resolver.check(node, path);
      yield { path, target: node.target };
    }
  }

  #count(): void {
    this.#entries++;
    checkEntries(this.#entries, this.#maxEntries);
  }

  /** Returns the subfolder `part`, creating it if needed; a folder without an entry of its own counts as one. */
  #enter(folder: TreeNode, part: string, context: { header: TarHeader; newFolders: string[] }): TreeNode {
    if (!folder.children.has(part)) this.#count();
    return this.#enterAgain(folder, part, context);
  }

  #enterAgain(folder: TreeNode, part: string, context: { header: TarHeader; newFolders: string[] }): TreeNode {
    const existing = folder.children.get(part);
    if (existing?.kind === "folder") return existing;
    if (existing !== undefined) {
      const other = existing.kind === "link" ? "a link" : "a file";
      throw problem("archive_conflict", context.header, `needs a folder where the archive has ${other}`);
    }
    const created: TreeNode = { name: part, parent: folder, kind: "folder", children: new Map(), target: "" };
    folder.children.set(part, created);
    context.newFolders.push(pathOf(created));
    return created;
  }

  #put(folder: TreeNode, name: string, entry: { header: TarHeader; kind: "file" | "link" }) {
    const { header, kind } = entry;
    const target = kind === "link" ? linkTarget(header.name, header.target) : "";
    this.#linkBytes += target.length;
    if (this.#linkBytes > MAX_LINK_BYTES) {
      throw beyondLimit("upload_links_too_large", `its link targets are longer than ${MAX_LINK_BYTES} bytes together`);
    }
    const existing = folder.children.get(name);
    if (existing !== undefined && existing.kind !== kind) {
      throw problem("archive_conflict", header, `is a ${kind}, but the archive also has a ${existing.kind} there`);
    }
    const node = existing ?? { name, parent: folder, kind, children: NO_CHILDREN, target };
    node.target = target;
    folder.children.set(name, node);
    if (kind === "link") this.#links.add(node);
    else if (existing === undefined) this.#files++;
    return { node, replaces: kind === "file" && existing !== undefined };
  }
}

function acceptable(header: TarHeader): TreeNode["kind"] {
  if (header.kind === "file" || header.kind === "folder" || header.kind === "link") return header.kind;
  throw problem("archive_entry_refused", header, REFUSED_KINDS[header.kind] ?? "is of an unknown type");
}

function problem(code: RefusalCode, { name }: TarHeader, reason: string): Error {
  return refusal(code, `${shown(name)} ${reason}`);
}

function pathOf(node: TreeNode): string {
  const parts: string[] = [];
  for (let at: TreeNode = node; at.parent !== undefined; at = at.parent) parts.push(at.name);
  return parts.toReversed().join("/");
}
