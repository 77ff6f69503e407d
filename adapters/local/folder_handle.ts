import { constants, type Dirent } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, readlink, realpath, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../shared/error_code.ts";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const PRIVATE_FOLDER = 0o700;

/**
 * An open folder: whatever happens to its path meanwhile, names are resolved in this very folder. Uses `/proc/self/fd`
 * on Linux; on other systems it falls back to the path.
 */
export class FolderHandle implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #path: string;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path;
  }

  /** Opens a folder by its real path; rejects if the last segment is a symlink. */
  static async open(path: string): Promise<FolderHandle> {
    return new FolderHandle(await open(path, FOLDER), path);
  }

  /** Opens a subfolder, never through a symlink; `make` creates it if missing. */
  async enter(name: string, { make }: { readonly make: boolean }): Promise<FolderHandle> {
    const path = this.#at(name);
    try {
      return await FolderHandle.open(path);
    } catch (error) {
      if (!make || errorCode(error) !== "ENOENT") throw error;
    }
    await mkdir(path, { mode: PRIVATE_FOLDER }).catch((error: unknown) => {
      if (errorCode(error) !== "EEXIST") throw error;
    });
    return FolderHandle.open(path);
  }

  /** Opens a file of this folder, never through a symlink and without blocking (for example on a pipe). */
  file(name: string, flags: number): Promise<FileHandle> {
    return open(this.#at(name), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  }

  entries(): Promise<Dirent[]> {
    return readdir(`${this.#path}/`, { withFileTypes: true });
  }

  look(name: string) {
    return lstat(this.#at(name));
  }

  /** The target of a symlink in this folder. */
  target(name: string): Promise<string> {
    return readlink(this.#at(name));
  }

  /** Permission bits. */
  async mode(): Promise<number> {
    return (await this.#handle.stat()).mode & 0o777;
  }

  rename(from: string, to: string): Promise<void> {
    return rename(this.#at(from), this.#at(to));
  }

  remove(name: string): Promise<void> {
    return unlink(this.#at(name));
  }

  /** Syncs the entries of this folder to disk (fsync). */
  sync(): Promise<void> {
    return this.#handle.sync();
  }

  /** The current real path of this folder. */
  realPath(): Promise<string> {
    return realpath(this.#path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  #at(name: string): string {
    return join(this.#path, name);
  }
}
