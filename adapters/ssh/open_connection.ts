import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import type { Client, ServerHostKeyAlgorithm } from "ssh2";
import type { RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import { algorithms } from "./algorithms.ts";
import { connectFailure, explain, type Stage } from "./connection_failure.ts";
import type { Login } from "./login.ts";

/** A host key that a server showed. */
export interface ShownKey {
  /** A key of `HOST_KEY_KINDS`. */
  readonly kind: string;
  readonly fingerprint: string;
}

/** An authenticated connection. */
export interface Connection {
  readonly client: Client;
  readonly socket: Socket;
  readonly hostKey: string;
}

/** Thrown, before any credential is sent, when a server shows a host key other than the expected one. */
export class UnexpectedHostKey extends Error {
  override readonly name = "UnexpectedHostKey";
  readonly shown: ShownKey;

  constructor(shown: ShownKey) {
    super("The server presented a different host key than expected");
    this.shown = shown;
  }
}

/** Input of one connection attempt. */
export interface Attempt {
  readonly client: Client;
  readonly target: RemoteTarget;
  /** The address to connect to. The target's host is only its name. */
  readonly address: string;
  readonly hostKeys: Iterable<readonly ServerHostKeyAlgorithm[]>;
  readonly login: Login;
  /** Aborts the attempt, which rejects with its reason. */
  readonly signal: AbortSignal;
}

const KEEPALIVE_MS = 10_000;

/** Opens one connection and logs in. On any error, the socket is destroyed before the promise rejects. */
export async function openConnection(attempt: Attempt): Promise<Connection> {
  const { client, target, login, signal } = attempt;
  signal.throwIfAborted();
  const socket = connect({ host: attempt.address, port: target.port, noDelay: true });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = () => reject(signal.reason);
  promise.catch(() => {});
  let stage: Stage = "reach";
  let shown: ShownKey | undefined;
  signal.addEventListener("abort", abort, { once: true });
  client
    .on("connect", () => (stage = "handshake"))
    .on("handshake", () => (stage = "login"))
    .on("ready", resolve)
    .on("error", (error) => reject(explain(error, target, stage, login)))
    .on("close", () => reject(explain(undefined, target, stage, login)))
    .on("change password", () => {
      reject(connectFailure(target, "auth_failed", "the password has expired. Set a new one on the server."));
    });
  try {
    client.connect({
      sock: socket,
      username: target.user,
      algorithms: algorithms(attempt.hostKeys),
      keepaliveInterval: KEEPALIVE_MS,
      // The signal carries the one timeout for all attempts together.
      readyTimeout: 0,
      authHandler: (methods, _partial, next) => login.next(methods, next),
      // Also called on rekeying: the host key of a connection must never change.
      hostVerifier: (key: Buffer) => {
        const expected = shown?.fingerprint ?? target.hostKey;
        shown = readKey(key);
        const accepted = expected === undefined || shown.fingerprint === expected;
        if (!accepted) reject(new UnexpectedHostKey(shown));
        return accepted;
      },
    });
    await promise;
    return { client, socket, hostKey: shown?.fingerprint ?? "" };
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function readKey(key: Buffer): ShownKey {
  // The key type comes first, after its length in four bytes.
  const type = key.toString("latin1", 4, 4 + key.readUInt32BE(0));
  const digest = createHash("sha256").update(key).digest("base64").replaceAll("=", "");
  return { kind: type.startsWith("ecdsa-") ? "ecdsa" : type, fingerprint: `SHA256:${digest}` };
}
