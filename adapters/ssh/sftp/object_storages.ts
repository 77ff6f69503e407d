import type { StorageOptions } from "../../../ports/backups/object_storage.ts";
import type { ObjectStorages, OpenStorage, RemoteFolderTarget } from "../../../ports/backups/object_storages.ts";
import type { RemoteTarget } from "../../../ports/servers/remote_hosts.ts";
import { dial, type ResolveAddress } from "../dial.ts";
import { type Sessions, SftpObjectStorage } from "./object_storage.ts";
import { SftpSession } from "./sftp_session.ts";

/** Options of SFTP connections. */
export interface SftpObjectStoragesOptions {
  /**
   * Resolves a host to the address to connect to. If it rejects with a `Failure`, `open` rejects with it too; any
   * other error becomes an `unreachable` failure.
   */
  readonly resolveAddress?: ResolveAddress | undefined;
}

const NEVER = new AbortController().signal;

/** Opens folders of other machines as object storages over SFTP. Needs no shell there. */
export class SftpObjectStorages implements ObjectStorages<RemoteFolderTarget> {
  readonly #resolveAddress: ResolveAddress | undefined;

  constructor({ resolveAddress }: SftpObjectStoragesOptions = {}) {
    this.#resolveAddress = resolveAddress;
  }

  async open(target: RemoteFolderTarget, { signal }: StorageOptions = {}): Promise<OpenStorage> {
    const first = await this.#connect(target.remote, signal);
    // Reconnects must reach the same machine, so the host key is pinned.
    const same = { ...target.remote, hostKey: first.hostKey };
    const sessions = new LastingSessions(first, (wanted) => this.#connect(same, wanted));
    return new SftpObjectStorage(target, sessions, first.hostKey);
  }

  async #connect(remote: RemoteTarget, signal: AbortSignal | undefined): Promise<SftpSession> {
    const connection = await dial(remote, { resolveAddress: this.#resolveAddress, signal: signal ?? NEVER });
    return SftpSession.start(connection, remote, signal);
  }
}

class LastingSessions implements Sessions {
  readonly #connect: (signal: AbortSignal | undefined) => Promise<SftpSession>;
  #session: SftpSession;
  #next: Promise<SftpSession> | undefined;

  constructor(first: SftpSession, connect: (signal: AbortSignal | undefined) => Promise<SftpSession>) {
    this.#session = first;
    this.#connect = connect;
  }

  async current(signal: AbortSignal | undefined): Promise<SftpSession> {
    signal?.throwIfAborted();
    if (!this.#session.closed) return this.#session;
    this.#next ??= this.#connect(signal).finally(() => (this.#next = undefined));
    this.#session = await this.#next;
    return this.#session;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session[Symbol.asyncDispose]();
  }
}
