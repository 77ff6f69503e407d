import { constants, type Dirent } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, readlink, realpath, rename, unlink } from "node:fs/promises";
import { join } from "node:path";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const PRIVATE_FOLDER = 0o700;

/**
 * A folder that is held open: whatever happens to its path meanwhile, names in it are names in this folder. Linux gives a path to what a process holds
 * open; elsewhere the path itself has to do.
 */
export class FolderHandle implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #path: string;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path;
  }

  /** Opens a folder by its real path, refusing one whose last name is a link. */
  static async open(path: string): Promise<FolderHandle> {
    return new FolderHandle(await open(path, FOLDER), path);
  }

  /** Opens a folder in this one, never through a link; `make` makes it when it is not there. */
  async enter(name: string, { make }: { readonly make: boolean }): Promise<FolderHandle> {
    const path = this.#at(name);
    try {
      return await FolderHandle.open(path);
    } catch (error) {
      if (!make || (error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
    await mkdir(path, { mode: PRIVATE_FOLDER }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    return FolderHandle.open(path);
  }

  /** Opens a file in this folder, never through a link and without waiting for anybody. */
  file(name: string, flags: number): Promise<FileHandle> {
    return open(this.#at(name), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  }

  entries(): Promise<Dirent[]> {
    return readdir(`${this.#path}/`, { withFileTypes: true });
  }

  look(name: string) {
    return lstat(this.#at(name));
  }

  /** Where a link in this folder points. */
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

  /** Writes the names in this folder to the disk. */
  sync(): Promise<void> {
    return this.#handle.sync();
  }

  /** Where this folder is now. */
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
