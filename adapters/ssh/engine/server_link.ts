import { createHash } from "node:crypto";
import { Failure, notFound } from "../../../domain/failure.ts";
import type { RemoteTarget } from "../../../ports/servers/remote_hosts.ts";
import { LocalListener } from "./local_listener.ts";
import type { SshServerConnection, SshServerConnections } from "./server_connections.ts";

/** How a server is reached now, and its name for people. */
export interface ServerTarget {
  readonly name: string;
  readonly remote: RemoteTarget;
  /** Records the host key that it presented, if none was expected. */
  readonly pin: (hostKey: string) => Promise<void>;
}

/** Finds out how the server is reached; `undefined` if it was deleted. */
export type FindTarget = () => Promise<ServerTarget | undefined>;

interface Held {
  readonly key: string;
  readonly connection: SshServerConnection;
}

/** How long a server counts as unchanged after it was looked up. */
const FRESH_MS = 5_000;
/** How long a server that could not be reached is not tried again, so that nobody waits for it one after the other. */
const PAUSE_MS = 3_000;

/** The connection to one server for as long as this process uses it. It follows changes of address and credentials. */
export class ServerLink implements AsyncDisposable {
  readonly #connections: SshServerConnections;
  /** By the port on the server that they lead to. They outlive connections, because the edge knows their ports. */
  readonly #ports = new Map<number, ReturnType<typeof LocalListener.onPort>>();
  readonly #find: FindTarget;
  #held: Held | undefined;
  #opening: Promise<Held> | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #failed: { readonly failure: Failure; readonly at: number } | undefined;
  #name = "the server";

  constructor(connections: SshServerConnections, find: FindTarget) {
    this.#connections = connections;
    this.#find = find;
  }

  /** The server's name for people. */
  get name(): string {
    return this.#name;
  }

  /** Why the server cannot be reached, as far as that is known. */
  get failure(): Failure | undefined {
    return this.#held?.connection.failure;
  }

  /** Returns the connection. Rejects with a failure that says why the server cannot be used. */
  async connection(): Promise<SshServerConnection> {
    const now = performance.now();
    if (this.#held && now - this.#checkedAt < FRESH_MS) return this.#held.connection;
    if (this.#failed && now - this.#failed.at < PAUSE_MS) throw this.#failed.failure;
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return (await this.#opening).connection;
  }

  /** Returns a port of this machine that leads to a port of the server's loopback address, whatever changes about it. */
  async reach(port: number): Promise<number> {
    let opening = this.#ports.get(port);
    if (!opening) {
      opening = LocalListener.onPort(async () => (await this.connection()).openPort(port));
      this.#ports.set(port, opening);
      opening.catch(() => this.#ports.delete(port));
    }
    return (await opening).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const listeners = await Promise.allSettled(this.#ports.values());
    this.#ports.clear();
    for (const opened of listeners) {
      if (opened.status === "fulfilled") await opened.value.listener[Symbol.asyncDispose]();
    }
    await this.#opening?.catch(() => {});
    await this.#held?.connection[Symbol.asyncDispose]();
    this.#held = undefined;
  }

  async #open(): Promise<Held> {
    try {
      const target = await this.#find();
      if (!target) {
        await this.#held?.connection[Symbol.asyncDispose]();
        this.#held = undefined;
        throw notFound("server");
      }
      this.#name = `the server "${target.name}"`;
      const key = keyOf(target.remote);
      const isTrusted = target.remote.hostKey === undefined || this.#held?.connection.hostKey === target.remote.hostKey;
      if (this.#held?.key !== key || !isTrusted) {
        const former = this.#held;
        const connection = await this.#connections.open(target.remote);
        this.#held = { key, connection };
        if (target.remote.hostKey === undefined) await target.pin(connection.hostKey);
        await former?.connection[Symbol.asyncDispose]();
      }
      this.#checkedAt = performance.now();
      this.#failed = undefined;
      return this.#held;
    } catch (error) {
      if (error instanceof Failure) this.#failed = { failure: error, at: performance.now() };
      throw error;
    }
  }
}

/** Identifies how a server is reached. */
function keyOf({ host, port, user, password, privateKey, keyPassphrase }: RemoteTarget): string {
  const secrets = [password, privateKey, keyPassphrase].map((secret) => secret?.reveal() ?? null);
  return createHash("sha256")
    .update(JSON.stringify([host, port, user, ...secrets]))
    .digest("hex");
}
