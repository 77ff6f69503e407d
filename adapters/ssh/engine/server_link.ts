import { createHash } from "node:crypto";
import { Failure, notFound } from "../../../domain/failure.ts";
import type { RemoteTarget } from "../../../ports/servers/remote_hosts.ts";
import type { ServerConnection, ServerConnections } from "../../../ports/servers/server_connections.ts";

/** How a server is reached now, and its name for people. */
export interface ServerTarget {
  readonly name: string;
  readonly remote: RemoteTarget;
}

/** Finds out how the server is reached; `undefined` if it was deleted. */
export type FindTarget = () => Promise<ServerTarget | undefined>;

interface Held {
  readonly key: string;
  readonly connection: ServerConnection;
}

/** How long a server counts as unchanged after it was looked up. */
const FRESH_MS = 5_000;
/** How long a server that could not be reached is not tried again, so that nobody waits for it one after the other. */
const PAUSE_MS = 3_000;

/** The connection to one server for as long as this process uses it. It follows changes of address and credentials. */
export class ServerLink implements AsyncDisposable {
  readonly #connections: ServerConnections;
  readonly #find: FindTarget;
  #held: Held | undefined;
  #opening: Promise<Held> | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #failed: { readonly failure: Failure; readonly at: number } | undefined;
  #name = "the server";

  constructor(connections: ServerConnections, find: FindTarget) {
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
  async connection(): Promise<ServerConnection> {
    const now = performance.now();
    if (this.#held && now - this.#checkedAt < FRESH_MS) return this.#held.connection;
    if (this.#failed && now - this.#failed.at < PAUSE_MS) throw this.#failed.failure;
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return (await this.#opening).connection;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opening?.catch(() => {});
    await this.#held?.connection[Symbol.asyncDispose]();
    this.#held = undefined;
  }

  async #open(): Promise<Held> {
    try {
      const target = await this.#find();
      if (!target) throw notFound("server");
      this.#name = `the server "${target.name}"`;
      const key = keyOf(target.remote);
      if (this.#held?.key !== key) {
        const former = this.#held;
        this.#held = { key, connection: await this.#connections.open(target.remote) };
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

/** Identifies how a server is reached. A host key that is recorded later is the one that it showed. */
function keyOf({ host, port, user, password, privateKey, keyPassphrase }: RemoteTarget): string {
  const secrets = [password, privateKey, keyPassphrase].map((secret) => secret?.reveal() ?? null);
  return createHash("sha256")
    .update(JSON.stringify([host, port, user, ...secrets]))
    .digest("hex");
}
