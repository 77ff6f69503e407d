import { Failure } from "../../domain/failure.ts";
import type { RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import { HOST_KEY_KINDS } from "./algorithms.ts";
import { connectFailure, hostKeyChanged } from "./connection_failure.ts";
import { Login } from "./login.ts";
import { type Connection, openConnection, type ShownKey, UnexpectedHostKey } from "./open_connection.ts";
import { openPrivateKey } from "./private_key.ts";
import { unlessAborted } from "../shared/deadline.ts";

/**
 * Resolves a host to the address to connect to. If it rejects with a `Failure`, the attempt rejects with it too; any
 * other error becomes an `unreachable` failure.
 */
export type ResolveAddress = (host: string) => Promise<string>;

/**
 * Connects and logs in, until the signal aborts. Rejects as `RemoteHosts.connect` documents, or with the signal's
 * reason.
 */
export async function dial(
  target: RemoteTarget,
  { resolveAddress, signal }: { readonly resolveAddress: ResolveAddress | undefined; readonly signal: AbortSignal },
): Promise<Connection> {
  checkTarget(target);
  // Loaded lazily: a server without remote machines does not keep ssh2 in memory.
  const { Client, utils } = await import("ssh2");
  const key = target.privateKey && openPrivateKey(target.privateKey, target.keyPassphrase, utils.parseKey);
  const address = await unlessAborted(addressOf(target, resolveAddress), signal);
  const kinds = new Map(HOST_KEY_KINDS);
  let first: ShownKey | undefined;
  // A server has several host keys and shows the best. The expected one may be another, so each type is requested in
  // turn.
  while (kinds.size > 0) {
    const attempt = { client: new Client(), target, address, hostKeys: kinds.values(), signal };
    try {
      return await openConnection({ ...attempt, login: new Login(target, key) });
    } catch (error) {
      if (!(error instanceof UnexpectedHostKey)) throw first ? hostKeyChanged(target, first.fingerprint) : error;
      first ??= error.shown;
      if (!kinds.delete(error.shown.kind)) break;
    }
  }
  throw hostKeyChanged(target, first?.fingerprint ?? "unknown");
}

async function addressOf(target: RemoteTarget, resolveAddress: ResolveAddress | undefined): Promise<string> {
  try {
    return resolveAddress ? await resolveAddress(target.host) : target.host;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw connectFailure(target, "unreachable", "the name cannot be resolved. Check the host name.", error);
  }
}

function checkTarget(target: RemoteTarget): void {
  const why = misconfiguration(target);
  if (why) throw new Failure("remote_failed", "misconfigured", `Cannot connect: ${why}`);
}

function misconfiguration({ host, port, user, password, privateKey }: RemoteTarget): string | undefined {
  if (!/^[^\s\p{Cc}-][^\s\p{Cc}]*$/u.test(host)) return "the host is neither a name nor an address.";
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return "the port is not a number from 1 to 65535.";
  if (user === "" || /\p{Cc}/u.test(user)) return "the user name is empty or contains a control character.";
  if (!password && !privateKey) return "neither a password nor a private key is given.";
  return undefined;
}
