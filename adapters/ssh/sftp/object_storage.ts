import type { Stats } from "ssh2";
import { checkObjectKey, nameOfPart, partName, splitKey } from "../../../domain/backups/object_key.ts";
import { drainStream } from "../../../domain/backups/drain_stream.ts";
import type { ObjectPage, StoredObject } from "../../../domain/backups/stored_object.ts";
import { listTree, sweepTree, type TreeChild, unfinishedIn } from "../../../domain/backups/tree_listing.ts";
import type { ObjectListOptions, StorageOptions, SweepOptions } from "../../../ports/backups/object_storage.ts";
import type { OpenStorage, RemoteFolderTarget } from "../../../ports/backups/object_storages.ts";
import { sftpFailure, STATUS, statusOf } from "./sftp_failure.ts";
import { readBlocks, SftpWriter } from "./sftp_file.ts";
import type { SftpSession } from "./sftp_session.ts";

const PAGE = 1_000;
const CLEAN_MS = 2_000;

/** Returns a working session, and reconnects if the last one broke. */
export type Sessions = { current(signal: AbortSignal | undefined): Promise<SftpSession> } & AsyncDisposable;

/** Stores objects as files on another machine. */
export class SftpObjectStorage implements OpenStorage {
  readonly hostKey: string;
  readonly #target: RemoteFolderTarget;
  readonly #sessions: Sessions;

  constructor(target: RemoteFolderTarget, sessions: Sessions, hostKey: string) {
    this.#target = target;
    this.#sessions = sessions;
    this.hostKey = hostKey;
  }

  async put(key: string, content: ReadableStream<Uint8Array>, { signal }: StorageOptions = {}): Promise<number> {
    checkObjectKey(key);
    const { folder, name } = splitKey(key);
    const part = this.#path(folder, partName(name));
    const session = await this.#sessions.current(signal);
    const writing = <T>(work: () => Promise<T>) => this.#writing(session, folder, signal, work);
    let handle: Buffer | undefined;
    try {
      const opened = await writing(() => this.#create(session, part, signal));
      handle = opened;
      const writer = new SftpWriter(session, opened, signal);
      const bytes = await drainStream(content, (chunk) => writing(() => writer.write(chunk)), signal);
      await writing(async () => {
        await writer.finish();
        await session.sync(opened, signal);
        await session.close(opened, signal);
        handle = undefined;
        await session.replace(part, this.#path(folder, name), signal);
      });
      return bytes;
    } catch (error) {
      void content.cancel(error).catch(() => {});
      await clean(session, part, handle);
      throw error;
    }
  }

  async get(key: string, { signal }: StorageOptions = {}): Promise<ReadableStream<Uint8Array> | undefined> {
    return this.#look(key, "read the object", signal, async (session, path) => {
      const handle = await session.open(path, "r", signal);
      const { isFile, size } = await describe(session, handle, signal);
      if (isFile) return this.#contentOf(session, handle, { size, signal });
      await session.close(handle, signal);
      return undefined;
    });
  }

  async stat(key: string, { signal }: StorageOptions = {}): Promise<StoredObject | undefined> {
    return this.#look(key, "inspect the object", signal, async (session, path) => {
      const found = await session.stat(path, signal);
      return found.isFile() ? { key, bytes: found.size, modifiedAt: timeOf(found) } : undefined;
    });
  }

  async list(prefix: string, { after, limit = PAGE, signal }: ObjectListOptions = {}): Promise<ObjectPage> {
    return listTree((folder) => this.#children(folder, signal), { prefix, after, limit });
  }

  async remove(key: string, { signal }: StorageOptions = {}): Promise<void> {
    await this.#look(key, "delete the object", signal, (session, path) => session.remove(path, signal));
  }

  async unfinished(prefix: string, { signal }: StorageOptions = {}): Promise<readonly string[]> {
    return unfinishedIn((folder) => this.#children(folder, signal), prefix);
  }

  async discard(key: string, { signal }: StorageOptions = {}): Promise<void> {
    const { folder, name } = splitKey(key);
    await this.#look(key, "delete the unfinished object", signal, async (session) => {
      for (const { filename } of await session.list(this.#path(folder) || ".", signal)) {
        if (nameOfPart(filename) === name) await session.remove(this.#path(folder, filename), signal);
      }
    });
  }

  async sweep(prefix: string, { before, signal }: SweepOptions): Promise<number> {
    const remove = async (path: string) => {
      await this.#asking("delete unfinished objects", signal, (session) => session.remove(this.#path(path), signal));
    };
    return sweepTree((folder) => this.#children(folder, signal), { prefix, before, remove });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sessions[Symbol.asyncDispose]();
  }

  /** Creates a new file, and its missing parent folders. */
  async #create(session: SftpSession, path: string, signal: AbortSignal | undefined): Promise<Buffer> {
    try {
      return await session.open(path, "wx", signal);
    } catch (error) {
      if (statusOf(error) !== STATUS.absent) throw error;
    }
    for (let end = path.indexOf("/", 1); end > 0; end = path.indexOf("/", end + 1)) {
      await session.makeFolder(path.slice(0, end), signal);
    }
    return session.open(path, "wx", signal);
  }

  async #children(folder: string, signal: AbortSignal | undefined): Promise<readonly TreeChild[]> {
    signal?.throwIfAborted();
    const found = await this.#asking("list the objects", signal, (session) =>
      session.list(this.#path(folder) || ".", signal),
    );
    return (found ?? []).map(({ filename, attrs }) => ({
      name: filename,
      type: attrs.isFile() ? "file" : attrs.isDirectory() ? "folder" : "other",
      bytes: attrs.size,
      modifiedAt: timeOf(attrs),
    }));
  }

  #contentOf(
    session: SftpSession,
    handle: Buffer,
    { size, signal }: { readonly size: number; readonly signal: AbortSignal | undefined },
  ): ReadableStream<Uint8Array> {
    const blocks = readBlocks(session, handle, { size, signal });
    const close = () => void session.close(handle, AbortSignal.timeout(CLEAN_MS)).catch(() => {});
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await blocks.next();
            if (!done) return controller.enqueue(value);
            close();
            controller.close();
          } catch (error) {
            close();
            controller.error(signal?.aborted ? signal.reason : this.#failure("read the object", error));
          }
        },
        cancel: close,
      },
      { highWaterMark: 0 },
    );
  }

  /** Performs an operation on an object. Returns `undefined` when it does not exist. */
  async #look<T>(
    key: string,
    action: string,
    signal: AbortSignal | undefined,
    work: (session: SftpSession, path: string) => Promise<T>,
  ): Promise<T | undefined> {
    checkObjectKey(key);
    return this.#asking(action, signal, (session) => work(session, this.#path(key)));
  }

  async #asking<T>(
    action: string,
    signal: AbortSignal | undefined,
    work: (session: SftpSession) => Promise<T>,
  ): Promise<T | undefined> {
    const session = await this.#sessions.current(signal);
    try {
      return await work(session);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (statusOf(error) === STATUS.absent) return undefined;
      throw this.#failure(action, error);
    }
  }

  /** Explains failed writes: servers give no reason for most of them, so the state of the disk supplies some. */
  async #writing<T>(
    session: SftpSession,
    folder: string,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      const disk = statusOf(error) === STATUS.failure ? await session.disk(this.#path(folder), signal) : undefined;
      throw sftpFailure(error, { target: this.#target.remote, action: "write the object", ...(disk && { disk }) });
    }
  }

  #failure(action: string, error: unknown): unknown {
    return sftpFailure(error, { target: this.#target.remote, action });
  }

  #path(...names: readonly string[]): string {
    return [this.#target.folder, ...names.map((name) => name.replace(/\/$/, ""))]
      .filter((name) => name !== "")
      .join("/");
  }
}

async function describe(session: SftpSession, handle: Buffer, signal: AbortSignal | undefined) {
  const found = await session.stat(handle, signal);
  return { isFile: found.isFile(), size: found.size };
}

/** Removes an unfinished file, if the server is still reachable. */
async function clean(session: SftpSession, part: string, handle: Buffer | undefined): Promise<void> {
  const signal = AbortSignal.timeout(CLEAN_MS);
  if (handle) await session.close(handle, signal).catch(() => {});
  await session.remove(part, signal).catch(() => {});
}

function timeOf({ mtime }: Pick<Stats, "mtime">): Date {
  return new Date(mtime * 1_000);
}
