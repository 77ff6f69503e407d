import type { Deadlines } from "./deadlines.ts";
import type { Address, UpstreamConnection } from "./upstream_connection.ts";

/** Below the 5 s after which many servers close an idle connection, so that few requests meet one that is closing. */
const IDLE_MS = 4_000;
/** For a request that could not be sent again: servers that close within a second are rare. */
const SURE_MS = 1_000;
const MAX_IDLE = 2_048;

/** Open connections to apps, kept for the next request. */
export class UpstreamPool {
  #idle = new Map<string, UpstreamConnection[]>();
  /** The same lists by the very objects that routes hold, which is cheaper than by name. */
  #found = new Map<Address, UpstreamConnection[]>();
  readonly #deadlines: Deadlines;

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines;
  }

  /** The idle connection that was used last; with `sure` only one that an app will hardly close now. */
  take(address: Address, { sure }: { readonly sure: boolean }): UpstreamConnection | undefined {
    const idle = this.#found.get(address);
    const connection = idle?.at(-1);
    if (!idle || !connection || (sure && connection.idleSince + SURE_MS < performance.now())) return undefined;
    idle.pop();
    connection.deadline = Infinity;
    return connection;
  }

  /** Keeps a connection for later, if its app is still served. */
  release(connection: UpstreamConnection): void {
    connection.user = undefined;
    const idle = this.#listOf(connection);
    if (!idle || !connection.open || idle.length >= MAX_IDLE) return connection.destroy();
    connection.idleSince = this.#deadlines.now;
    connection.deadline = this.#deadlines.now + IDLE_MS;
    if (connection.onEnd === undefined) {
      connection.onEnd = () => this.#forget(connection);
      this.#deadlines.add(connection);
    }
    idle.push(connection);
  }

  /** From now on keeps connections to these apps only, and closes the idle ones of others. */
  serveOnly(addresses: Iterable<Address>): void {
    const former = this.#idle;
    this.#idle = new Map();
    this.#found = new Map();
    for (const address of addresses) {
      const name = key(address);
      const list = this.#idle.get(name) ?? former.get(name) ?? [];
      this.#idle.set(name, list);
      this.#found.set(address, list);
    }
    for (const [name, list] of former) {
      if (!this.#idle.has(name)) for (const connection of list) connection.destroy();
    }
  }

  #forget(connection: UpstreamConnection): void {
    this.#deadlines.delete(connection);
    const idle = this.#listOf(connection);
    const at = idle?.indexOf(connection) ?? -1;
    if (idle && at >= 0) idle.splice(at, 1);
  }

  /** Where a connection is kept; the route it was opened for may have been replaced by another one to the same place. */
  #listOf({ address }: UpstreamConnection): UpstreamConnection[] | undefined {
    return this.#found.get(address) ?? this.#idle.get(key(address));
  }
}

function key({ host, port }: Address): string {
  return `${host} ${port}`;
}
