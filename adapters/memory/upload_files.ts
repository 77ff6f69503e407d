import { createHash } from "node:crypto";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type PackedFile, packGzip } from "../../domain/archive/pack.ts";
import { unpack } from "../../domain/archive/unpack.ts";
import { Failure } from "../../domain/failure.ts";
import type {
  CopyToOptions,
  ReceivedUpload,
  ReceiveOptions,
  TreeEntry,
  UploadFiles,
  ReadOptions,
} from "../../ports/projects/upload_files.ts";

type Node =
  | { readonly type: "folder" }
  | { readonly type: "file"; readonly content: Uint8Array; readonly executable: boolean }
  | { readonly type: "link"; readonly target: string };

interface Upload {
  readonly nodes: ReadonlyMap<string, Node>;
  readonly changedAt: Date;
}

const MAX_LINKS = 40;

/** Keeps uploads in memory. */
export class MemoryUploadFiles implements UploadFiles {
  readonly #uploads = new Map<string, Upload>();

  async receive(
    id: string,
    archive: ReadableStream<Uint8Array>,
    { limits, signal, confirm }: ReceiveOptions,
  ): Promise<ReceivedUpload> {
    const hash = createHash("sha256");
    const nodes = new Map<string, Node>();
    let file = { content: new Uint8Array(), filled: 0 };
    let received: ReceivedUpload | undefined;
    for await (const step of unpack(archive, { limits, signal, onBytes: (bytes) => hash.update(bytes) })) {
      switch (step.type) {
        case "folder":
          nodes.set(step.path, { type: "folder" });
          break;
        case "file":
          file = { content: new Uint8Array(step.size), filled: 0 };
          nodes.set(step.path, { type: "file", content: file.content, executable: step.executable });
          break;
        case "bytes":
          file.content.set(step.bytes, file.filled);
          file.filled += step.bytes.length;
          break;
        case "link":
          nodes.set(step.path, { type: "link", target: step.target });
          break;
        case "end":
          received = { bytes: step.bytes, files: step.files, sha256: hash.digest("hex") };
      }
    }
    signal?.throwIfAborted();
    await confirm?.();
    this.#uploads.set(id, { nodes, changedAt: new Date() });
    return received!;
  }

  async *list(id: string): AsyncGenerator<TreeEntry> {
    const entries = [...(this.#uploads.get(id)?.nodes ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [path, node] of entries) {
      yield { path, type: node.type, size: node.type === "file" ? node.content.length : 0 };
    }
  }

  async read(id: string, path: string, { maxBytes, tooLarge }: ReadOptions): Promise<Uint8Array | undefined> {
    const nodes = this.#uploads.get(id)?.nodes;
    if (nodes === undefined || path.startsWith("/") || path.split("/").includes("..")) return undefined;
    const node = follow(nodes, path);
    if (node?.type !== "file") return undefined;
    if (node.content.length <= maxBytes) return node.content.slice();
    if (tooLarge) throw tooLarge();
    return undefined;
  }

  /** Returns the files of a stored upload as text, by path. */
  texts(id: string): Readonly<Record<string, string>> | undefined {
    const nodes = this.#uploads.get(id)?.nodes;
    if (nodes === undefined) return undefined;
    const decoder = new TextDecoder();
    const files = [...nodes].flatMap(([path, node]) => (node.type === "file" ? [[path, node.content] as const] : []));
    return Object.fromEntries(files.map(([path, content]) => [path, decoder.decode(content)]));
  }

  async copyTo(id: string, folder: string, { signal }: CopyToOptions = {}): Promise<void> {
    const nodes = this.#uploads.get(id)?.nodes;
    if (nodes === undefined) throw gone();
    for (const [path, node] of nodes) {
      signal?.throwIfAborted();
      const to = join(folder, path);
      if (node.type === "folder") await mkdir(to, { recursive: true });
      else if (node.type === "link") await symlink(node.target, to);
      else await writeFile(to, node.content, { mode: node.executable ? 0o755 : 0o644 });
    }
  }

  async archive(id: string): Promise<ReadableStream<Uint8Array>> {
    const nodes = this.#uploads.get(id)?.nodes;
    if (nodes === undefined) throw gone();
    return packGzip([...nodes].map(([path, node]) => packed(path, node)));
  }

  async discard(id: string): Promise<void> {
    this.#uploads.delete(id);
  }

  async *stored(): AsyncGenerator<{ readonly id: string; readonly changedAt: Date }> {
    for (const [id, { changedAt }] of this.#uploads) yield { id, changedAt };
  }
}

/** Resolves a path, following symlinks. */
function follow(nodes: ReadonlyMap<string, Node>, path: string): Node | undefined {
  const waiting = path.split("/");
  let at: string[] = [];
  let node: Node | undefined;
  for (let links = 0; waiting.length > 0 && links <= MAX_LINKS;) {
    const part = waiting.shift()!;
    if (part === "" || part === ".") continue;
    const next = part === ".." ? at.slice(0, -1) : [...at, part];
    node = next.length === 0 ? { type: "folder" } : nodes.get(next.join("/"));
    if (node === undefined) return undefined;
    if (node.type !== "link") {
      at = next;
      continue;
    }
    links++;
    waiting.unshift(...node.target.split("/"));
    node = undefined;
  }
  return node;
}

function gone(): Failure {
  return new Failure("not_found", "upload_gone", "Cannot use this upload: its files are not kept any more");
}

function packed(name: string, node: Node): PackedFile {
  const entry = { name, kind: node.type, size: 0, mode: 0o644, modifiedMs: 0 };
  if (node.type === "folder") return { ...entry, mode: 0o755 };
  if (node.type === "link") return { ...entry, target: node.target };
  const { content, executable } = node;
  return { ...entry, size: content.length, mode: executable ? 0o755 : 0o644, content: [content] };
}
