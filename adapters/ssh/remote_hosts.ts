import type { Failure } from "../../domain/failure.ts";
import type { RemoteHosts, RemoteSession, RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import { connectFailure } from "./connection_failure.ts";
import { dial, type ResolveAddress } from "./dial.ts";
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
    const bound = new AbortController();
    const cancel = () => bound.abort(connectFailure(target, "timeout", "the attempt was cancelled."));
    const timer = setTimeout(() => bound.abort(timedOut(target, timeoutMs)), timeoutMs);
    if (signal?.aborted) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const connection = await dial(target, { resolveAddress: this.#resolveAddress, signal: bound.signal });
      return new SshSession(connection, target);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
  }
}

function timedOut(target: RemoteTarget, timeoutMs: number): Failure {
  const why = `no login within ${timeoutMs / 1000} s. Check the address, and that no firewall drops the connection.`;
  return connectFailure(target, "timeout", why);
}
