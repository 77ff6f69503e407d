import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import type { RemoteTarget } from "../../../ports/servers/remote_hosts.ts";
import type { ServerConnection, ServerConnections } from "../../../ports/servers/server_connections.ts";
import type { ResolveAddress } from "../dial.ts";
import { SharedServer } from "./shared_server.ts";

/** Options of connections to servers. */
export interface SshServerConnectionsOptions {
  /** The folder for the sockets that lead to engines. Only this user may have access to it. */
  readonly folder: string;
  readonly resolveAddress?: ResolveAddress | undefined;
  /** How long a connection that nobody uses is kept. Defaults to one minute. */
  readonly idleMs?: number;
}

/** A connection with what only the adapters for SSH use. */
export interface SshServerConnection extends ServerConnection {
  /** Opens a connection to a port of the machine's loopback address. */
  openPort(port: number): Promise<Duplex>;
}

interface Entry {
  readonly server: SharedServer;
  users: number;
  idle?: ReturnType<typeof setTimeout> | undefined;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const IDLE_MS = 60_000;

/** Connects to the container engines of other machines over SSH, with one connection for each machine and login. */
export class SshServerConnections implements ServerConnections, AsyncDisposable {
  readonly #entries = new Map<string, Entry>();
  readonly #options: SshServerConnectionsOptions;

  constructor(options: SshServerConnectionsOptions) {
    this.#options = options;
  }

  async open(
    target: RemoteTarget,
    {
      signal = new AbortController().signal,
      timeoutMs = DEFAULT_TIMEOUT_MS,
    }: { signal?: AbortSignal; timeoutMs?: number } = {},
  ): Promise<SshServerConnection> {
    const key = keyOf(target);
    const entry = this.#entry(key, target);
    entry.users += 1;
    clearTimeout(entry.idle);
    try {
      const facts = await entry.server.ready({ signal, timeoutMs });
      return {
        ...facts,
        get failure() {
          return entry.server.failure;
        },
        openPort: (port) => entry.server.openPort(port),
        readFile: (path, options) => entry.server.readFile(path, options),
        [Symbol.asyncDispose]: onceOnly(async () => this.#release(key, entry)),
      };
    } catch (error) {
      this.#release(key, entry);
      throw error;
    }
  }

  /** Closes all connections, also those in use. */
  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#entries.values()];
    this.#entries.clear();
    for (const { idle } of all) clearTimeout(idle);
    await Promise.all(all.map(({ server }) => server[Symbol.asyncDispose]()));
  }

  #entry(key: string, target: RemoteTarget): Entry {
    const known = this.#entries.get(key);
    if (known) return known;
    const { folder, resolveAddress } = this.#options;
    const entry: Entry = { server: new SharedServer(target, { folder, resolveAddress }), users: 0 };
    this.#entries.set(key, entry);
    return entry;
  }

  #release(key: string, entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0 || this.#entries.get(key) !== entry) return;
    entry.idle = setTimeout(() => {
      this.#entries.delete(key);
      void entry.server[Symbol.asyncDispose]();
    }, this.#options.idleMs ?? IDLE_MS);
    entry.idle.unref();
  }
}

/** Identifies a machine and login: connections are only shared where everything is the same. */
function keyOf({ host, port, user, hostKey, password, privateKey, keyPassphrase }: RemoteTarget): string {
  const secrets = [password, privateKey, keyPassphrase].map((secret) => secret?.reveal() ?? null);
  return createHash("sha256")
    .update(JSON.stringify([host, port, user, hostKey ?? null, ...secrets]))
    .digest("hex");
}

function onceOnly(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= work());
}
