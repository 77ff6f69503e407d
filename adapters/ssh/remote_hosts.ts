import type { RemoteHosts, RemoteSession, RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import type { ResolveAddress } from "./dial.ts";
import { dialWithin } from "./dial_within.ts";
import { SshSession } from "./session.ts";

/** Options of SSH connections. */
export interface SshRemoteHostsOptions {
  /**
   * Resolves a host to the address to connect to. If it rejects with a `Failure`, `connect` rejects with it too; any
   * other error becomes an `unreachable` failure.
   */
  readonly resolveAddress?: ResolveAddress | undefined;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/** Connects to other machines over SSH. */
export class SshRemoteHosts implements RemoteHosts {
  readonly #resolveAddress: ResolveAddress | undefined;

  constructor({ resolveAddress }: SshRemoteHostsOptions = {}) {
    this.#resolveAddress = resolveAddress;
  }

  async connect(
    target: RemoteTarget,
    { signal, timeoutMs = DEFAULT_TIMEOUT_MS }: { signal?: AbortSignal; timeoutMs?: number } = {},
  ): Promise<RemoteSession> {
    const connection = await dialWithin(target, { resolveAddress: this.#resolveAddress, signal, timeoutMs });
    return new SshSession(connection, target);
  }
}
