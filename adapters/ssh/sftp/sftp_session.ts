import type { FileEntryWithStats, SFTPWrapper, Stats } from "ssh2";
import { Failure } from "../../../domain/failure.ts";
import type { RemoteTarget } from "../../../ports/servers/remote_hosts.ts";
import { place } from "../connection_failure.ts";
import { hangUp } from "../hang_up.ts";
import type { Connection } from "../open_connection.ts";
import { type DiskState, STATUS, statusOf } from "./sftp_failure.ts";

type Done<T> = (error?: Error | null, value?: T) => void;

const READ_ONLY = 1n;

/** SFTP requests as promises. An aborted signal rejects a pending request with its reason. */
export class SftpSession implements AsyncDisposable {
  readonly hostKey: string;
  readonly #connection: Connection;
  readonly #sftp: SFTPWrapper;
  /** Pending requests. ssh2 drops their callbacks when the connection ends. */
  readonly #waiting = new Set<(error: Error) => void>();

  private constructor(connection: Connection, sftp: SFTPWrapper) {
    this.hostKey = connection.hostKey;
    this.#connection = connection;
    this.#sftp = sftp;
    sftp.on("error", () => {});
    connection.socket.once("close", () => {
      for (const giveUp of this.#waiting) giveUp(new Error("The connection ended"));
    });
  }

  /**
   * Opens the SFTP subsystem on a connection, which the session owns from then on. Throws `misconfigured` without one.
   */
  static async start(
    connection: Connection,
    target: RemoteTarget,
    signal: AbortSignal | undefined,
  ): Promise<SftpSession> {
    try {
      return await SftpSession.on(connection, signal);
    } catch (error) {
      connection.socket.destroy();
      if (signal?.aborted) throw error;
      const why = "the server offers no file transfer (SFTP) to this user: allow its sftp subsystem";
      throw new Failure("remote_failed", "misconfigured", `Cannot use ${place(target)}: ${why}`);
    }
  }

  /** Opens the SFTP subsystem on a connection that others use too: end the session, but do not dispose it. */
  static async on(connection: Connection, signal: AbortSignal | undefined): Promise<SftpSession> {
    return new SftpSession(connection, await answer(signal, (done) => connection.client.sftp(done)));
  }

  /** Ends the session and leaves the connection open. */
  end(): void {
    this.#sftp.end();
  }

  /** Whether the connection is closed. */
  get closed(): boolean {
    return this.#connection.socket.destroyed;
  }

  open(path: string, flags: "r" | "wx", signal?: AbortSignal): Promise<Buffer> {
    return this.#ask(signal, (done) => this.#sftp.open(path, flags, 0o600, done));
  }

  close(handle: Buffer, signal?: AbortSignal): Promise<void> {
    return this.#ask(signal, (done) => this.#sftp.close(handle, done));
  }

  write(handle: Buffer, bytes: Uint8Array, position: number, signal?: AbortSignal): Promise<void> {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return this.#ask(signal, (done) => this.#sftp.write(handle, buffer, 0, buffer.length, position, done));
  }

  /** Reads into a buffer. Resolves with the number of bytes, 0 at the end of the file. */
  read(handle: Buffer, into: Buffer, position: number, signal?: AbortSignal): Promise<number> {
    return this.#ask(signal, (done) =>
      this.#sftp.read(handle, into, 0, into.length, position, (error, bytes) => done(error, bytes)),
    );
  }

  stat(of: string | Buffer, signal?: AbortSignal): Promise<Stats> {
    return this.#ask(signal, (done) =>
      typeof of === "string" ? this.#sftp.lstat(of, done) : this.#sftp.fstat(of, done),
    );
  }

  /** Reads what a path leads to, through symlinks. */
  statTarget(path: string, signal?: AbortSignal): Promise<Stats> {
    return this.#ask(signal, (done) => this.#sftp.stat(path, done));
  }

  list(folder: string, signal?: AbortSignal): Promise<readonly FileEntryWithStats[]> {
    return this.#ask(signal, (done) => this.#sftp.readdir(folder, done));
  }

  remove(path: string, signal?: AbortSignal): Promise<void> {
    return this.#ask(signal, (done) => this.#sftp.unlink(path, done));
  }

  /** Creates a folder. Ignores the generic failure status, which servers return for an existing folder. */
  async makeFolder(path: string, signal?: AbortSignal): Promise<void> {
    try {
      await this.#ask<void>(signal, (done) => this.#sftp.mkdir(path, { mode: 0o700 }, done));
    } catch (error) {
      if (statusOf(error) !== STATUS.failure) throw error;
    }
  }

  /** Replaces a file by another, atomically where the server supports it. */
  async replace(from: string, to: string, signal?: AbortSignal): Promise<void> {
    try {
      return await this.#ask<void>(signal, (done) => this.#sftp.ext_openssh_rename(from, to, done));
    } catch (error) {
      if (!isUnsupported(error)) throw error;
    }
    const rename = () => this.#ask<void>(signal, (done) => this.#sftp.rename(from, to, done));
    await rename().catch(async (error: unknown) => {
      if (statusOf(error) !== STATUS.failure) throw error;
      await this.remove(to, signal);
      await rename();
    });
  }

  /** Flushes a file to disk (fsync), where the server supports it. */
  async sync(handle: Buffer, signal?: AbortSignal): Promise<void> {
    try {
      await this.#ask<unknown>(signal, (done) => this.#sftp.ext_openssh_fsync(handle, done));
    } catch (error) {
      if (!isUnsupported(error)) throw error;
    }
  }

  /** Returns the state of the disk of a folder, or `undefined` where the server does not report it. */
  async disk(folder: string, signal?: AbortSignal): Promise<DiskState | undefined> {
    try {
      const found = await this.#ask<Record<string, number | bigint>>(signal, (done) =>
        this.#sftp.ext_openssh_statvfs(folder || ".", done),
      );
      const number = (name: string) => BigInt(found[name] ?? 1);
      return { full: number("f_bavail") === 0n, readOnly: (number("f_flag") & READ_ONLY) !== 0n };
    } catch {
      return undefined;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return hangUp(this.#connection);
  }

  #ask<T>(signal: AbortSignal | undefined, ask: (done: Done<T>) => void): Promise<T> {
    let giveUp: ((error: Error) => void) | undefined;
    const answered = answer<T>(signal, (done) => {
      if (this.closed) return done(new Error("The connection ended"));
      giveUp = done;
      this.#waiting.add(done);
      ask(done);
    });
    return answered.finally(() => giveUp && this.#waiting.delete(giveUp));
  }
}

/** Returns whether the server or ssh2 does not support a request. */
function isUnsupported(error: unknown): boolean {
  return statusOf(error) === STATUS.unsupported || (error instanceof Error && /does not support/.test(error.message));
}

function answer<T>(signal: AbortSignal | undefined, ask: (done: Done<T>) => void): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  if (signal?.aborted) reject(signal.reason);
  else {
    const abort = () => reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      ask((error, value) => {
        signal?.removeEventListener("abort", abort);
        if (error) reject(error);
        else resolve(value as T);
      });
    } catch (error) {
      signal?.removeEventListener("abort", abort);
      reject(error);
    }
  }
  return promise;
}
