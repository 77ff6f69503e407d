import type { Deadlines } from "./deadlines.ts";
import type { Address, UpstreamConnection } from "./upstream_connection.ts";

/** Below the 5 s after which many servers close idle connections, so that few requests race with a close. */
const IDLE_MS = 4_000;
/** For requests that cannot be retried: few servers close connections that were idle for less than a second. */
const SURE_MS = 1_000;
const MAX_IDLE = 2_048;

/** A pool of idle keep-alive connections to apps. */
export class UpstreamPool {
  #idle = new Map<string, UpstreamConnection[]>();
  /** The same lists, keyed by the address objects of the routes: cheaper than by name. */
  #found = new Map<Address, UpstreamConnection[]>();
  readonly #deadlines: Deadlines;

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines;
  }

  /**
   * Takes the most recently used idle connection; with `sure`, only one that the app is unlikely to close right now.
   */
  take(address: Address, { sure }: { readonly sure: boolean }): UpstreamConnection | undefined {
    const idle = this.#found.get(address);
    const connection = idle?.at(-1);
    if (!idle || !connection || (sure && connection.idleSince + SURE_MS < performance.now())) return undefined;
    idle.pop();
    connection.deadline = Infinity;
    return connection;
  }

  /** Returns a connection to the pool, or closes it if its app has no route any more. */
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

  /** Restricts the pool to these apps and closes the idle connections of all others. */
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

  /** The list of a connection; the route it was opened for may have been replaced by one with an equal address. */
  #listOf({ address }: UpstreamConnection): UpstreamConnection[] | undefined {
    return this.#found.get(address) ?? this.#idle.get(key(address));
  }
}

function key({ host, port }: Address): string {
  return `${host} ${port}`;
}
