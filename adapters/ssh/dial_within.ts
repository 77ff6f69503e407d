import type { Failure } from "../../domain/failure.ts";
import type { RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import { connectFailure } from "./connection_failure.ts";
import { dial, type ResolveAddress } from "./dial.ts";
import type { Connection } from "./open_connection.ts";

/** How a connection is opened, and for how long to try. */
export interface DialOptions {
  readonly resolveAddress: ResolveAddress | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/** Connects and logs in within a time limit. Rejects as `RemoteHosts.connect` documents. */
export async function dialWithin(
  target: RemoteTarget,
  { resolveAddress, signal, timeoutMs }: DialOptions,
): Promise<Connection> {
  const bound = new AbortController();
  const cancel = () => bound.abort(connectFailure(target, "timeout", "the attempt was cancelled."));
  const timer = setTimeout(() => bound.abort(timedOut(target, timeoutMs)), timeoutMs);
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await dial(target, { resolveAddress, signal: bound.signal });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  }
}

function timedOut(target: RemoteTarget, timeoutMs: number): Failure {
  const why = `no login within ${timeoutMs / 1000} s. Check the address, and that no firewall drops the connection.`;
  return connectFailure(target, "timeout", why);
}
