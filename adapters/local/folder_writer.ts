import { chmod, type FileHandle, mkdir, open, symlink, unlink, writeFile } from "node:fs/promises";
import type { UnpackStep } from "../../domain/archive/unpack.ts";

/** Files up to this size are buffered and written at once; larger ones are streamed. */
const SMALL_BYTES = 128 * 1024;
const PARALLEL_WRITES = 8;
const FOLDER_MODE = 0o755;

interface OpenFile {
  readonly path: string;
  readonly mode: number;
  readonly size: number;
  written: number;
  /** Set for a large file, which is streamed. */
  readonly handle?: FileHandle;
  /** Set for a small file, which is buffered. */
  readonly content?: Uint8Array;
}

/** Writes the steps of an unpacked archive into an empty folder, of which it is the only writer. */
export class FolderWriter {
  readonly #root: string;
  /** Writes in progress, as a ring buffer: a new one waits for the oldest and replaces it. */
  readonly #writes: Promise<void>[] = Array.from({ length: PARALLEL_WRITES }, async () => {});
  #oldest = 0;
  // The umask clears permission bits on creation; a chmod sets them again.
  readonly #masked = (process.umask() & FOLDER_MODE) !== 0;
  #file: OpenFile | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** Carries out one step, or throws the failure of an earlier one. */
  async take(step: UnpackStep): Promise<void> {
    switch (step.type) {
      case "folder":
        await mkdir(this.#at(step.path), FOLDER_MODE);
        if (this.#masked) await chmod(this.#at(step.path), FOLDER_MODE);
        return;
      case "file":
        return this.#begin(step);
      case "bytes":
        return this.#append(step.bytes);
      case "link":
        await this.#settled();
        return symlink(step.target, this.#at(step.path));
      case "end":
        return this.#settled();
    }
  }

  /** Waits for writes in progress, failed or not; nothing is written after that. */
  async close(): Promise<void> {
    await Promise.all(this.#writes);
    await this.#file?.handle?.close().catch(() => {});
    this.#file = undefined;
  }

  #at(path: string): string {
    return `${this.#root}/${path}`;
  }

  async #begin(step: Extract<UnpackStep, { type: "file" }>): Promise<void> {
    const path = this.#at(step.path);
    const mode = step.executable ? 0o755 : 0o644;
    if (step.replaces) {
      await this.#settled();
      await unlink(path);
    }
    const file = { path, mode, size: step.size, written: 0 };
    if (step.size <= SMALL_BYTES) this.#file = { ...file, content: new Uint8Array(step.size) };
    else this.#file = { ...file, handle: await open(path, "wx", mode) };
    if (step.size === 0) await this.#complete(this.#file);
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const file = this.#file!;
    file.content?.set(bytes, file.written);
    if (file.handle !== undefined) await writeAll(file.handle, bytes);
    file.written += bytes.length;
    if (file.written === file.size) await this.#complete(file);
  }

  async #complete(file: OpenFile): Promise<void> {
    await this.#writes[this.#oldest];
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#file = undefined;
    this.#writes[this.#oldest] = this.#store(file);
    this.#oldest = (this.#oldest + 1) % PARALLEL_WRITES;
  }

  async #store({ path, mode, handle, content }: OpenFile): Promise<void> {
    try {
      if (handle !== undefined) await handle.close();
      else await writeFile(path, content!, { flag: "wx", mode });
      if (this.#masked) await chmod(path, mode);
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  async #settled(): Promise<void> {
    await Promise.all(this.#writes);
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, at, bytes.length - at);
    at += bytesWritten;
  }
}
