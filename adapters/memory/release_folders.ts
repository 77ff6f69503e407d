import { unpack } from "../../domain/archive/unpack.ts";
import { conflict, invalidField } from "../../domain/failure.ts";
import type { ReleaseFolder, ReleaseFolders } from "../../ports/release_folders.ts";
import type { TreeEntry } from "../../ports/upload_files.ts";

interface Release {
  files: ReadonlyMap<string, string>;
  finished: boolean;
}

const LIMITS = { maxBytes: 2 ** 30, maxUnpackedBytes: 2 ** 30, maxEntries: 10_000 };
const ROOT = "/releases";
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const LEFT_OUT = new Set(["node_modules", ".git"]);

/** Release folders that exist in memory only; what a build would leave in one is put there by `write`. */
export class MemoryReleaseFolders implements ReleaseFolders {
  readonly #releases = new Map<string, Release>();

  /** Puts a file into the folder at a path that `make` gave. */
  write(folder: string, path: string, content: string): void {
    const release = this.#release(folder.slice(ROOT.length + 1));
    release.files = new Map([...release.files, [path, content]]);
  }

  async make(deploymentId: string): Promise<string> {
    if (!SAFE_ID.test(deploymentId)) throw invalidField("deploymentId", "it is not the id of a deployment");
    this.#releases.set(deploymentId, { files: new Map(), finished: false });
    return `${ROOT}/${deploymentId}`;
  }

  async find(deploymentId: string): Promise<ReleaseFolder | undefined> {
    const release = this.#releases.get(deploymentId);
    return release && { path: `${ROOT}/${deploymentId}`, finished: release.finished };
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
    this.#release(toDeploymentId).files = from.files;
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
    const others = [...release.files].filter(([name]) => !name.startsWith(prefix));
    release.files = new Map([...others, ...placed]);
  }

  async *entries(deploymentId: string): AsyncGenerator<TreeEntry> {
    const entries = new Map<string, TreeEntry>();
    for (const [path, content] of this.#releases.get(deploymentId)?.files ?? []) {
      const parts = path.split("/");
      if (parts.some((part) => LEFT_OUT.has(part))) continue;
      for (let depth = 1; depth < parts.length; depth++) {
        const folder = parts.slice(0, depth).join("/");
        entries.set(folder, { path: folder, type: "folder", size: 0 });
      }
      entries.set(path, { path, type: "file", size: Buffer.byteLength(content) });
    }
    yield* [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async read(
    deploymentId: string,
    path: string,
    { maxBytes }: { readonly maxBytes: number },
  ): Promise<Uint8Array | undefined> {
    const content = this.#releases.get(deploymentId)?.files.get(path);
    const bytes = content === undefined ? undefined : new TextEncoder().encode(content);
    return bytes !== undefined && bytes.length <= maxBytes ? bytes : undefined;
  }

  async *list(): AsyncGenerator<string> {
    yield* this.#releases.keys();
  }

  #release(deploymentId: string): Release {
    const release = this.#releases.get(deploymentId);
    if (!release) {
      throw conflict(
        "release_folder_gone",
        "Cannot go on with this deployment: its release folder is not there any more",
      );
    }
    return release;
  }
}
