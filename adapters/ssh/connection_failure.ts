import { conflict, Failure } from "../../domain/failure.ts";
import type { RemoteTarget } from "../../ports/servers/remote_hosts.ts";

/** The stage at which a connection attempt failed. */
export type Stage = "reach" | "handshake" | "login";

/** Authentication methods that a login tried, and those the server offered. */
export interface LoginTrace {
  readonly tried: ReadonlySet<string>;
  readonly offered: readonly string[];
}

const REACHING: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused. Check that sshd runs there and the port is open.",
  ENOTFOUND: "the name cannot be resolved. Check the host name.",
  EAI_AGAIN: "the name cannot be resolved now. Check the host name and the name server.",
  EHOSTUNREACH: "there is no route to this machine. Check the address and the network.",
  ENETUNREACH: "there is no route to this network. Check the address and the network.",
  EINVAL: "there is no route to this address. Check the address and the network.",
  ETIMEDOUT: "no answer came. Check the address, and that no firewall drops the connection.",
};

const NO_MORE_LOGINS = [2, 14];

/** Formats a target as `host:port`, with IPv6 addresses in brackets. */
export function place({ host, port }: RemoteTarget): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Creates a connection failure. Its message contains nothing that the server or a credential says. */
export function connectFailure(target: RemoteTarget, code: string, why: string, cause?: unknown): Failure {
  return new Failure("remote_failed", code, `Cannot connect to ${place(target)}: ${why}`, { cause });
}

/** Creates the failure for a server whose host key differs from the expected one. */
export function hostKeyChanged(target: RemoteTarget, shown: string): Failure {
  return conflict(
    "host_key_changed",
    `Cannot trust ${place(target)}: its host key is ${shown}, expected is ${target.hostKey}. ` +
      "Accept the new key only if you know why it changed.",
  );
}

/** Explains a failed attempt from the error of ssh2 or the socket at that stage. */
export function explain(error: unknown, target: RemoteTarget, stage: Stage, trace: LoginTrace): Failure {
  const { code, level, message } = readError(error);
  if (level === "client-authentication") return loginRefused(target, trace);
  if (stage === "login") {
    if (typeof code === "number" && NO_MORE_LOGINS.includes(code) && trace.tried.size > 0) {
      return loginRefused(target, trace);
    }
    // No cause: from here on the server knows a credential, and its error message could repeat it.
    return connectFailure(target, "unreachable", "the server ended the connection during the login. Try again.");
  }
  const reaching = typeof code === "string" ? REACHING[code] : undefined;
  if (reaching) return connectFailure(target, code === "ETIMEDOUT" ? "timeout" : "unreachable", reaching, error);
  return connectFailure(target, "unreachable", handshakeProblem(stage, message), error);
}

function handshakeProblem(stage: Stage, message: string): string {
  if (stage === "reach") return "the connection could not be made. Check the address and the port.";
  if (/no matching/i.test(message)) {
    return "the server offers no algorithm that is still considered secure. Update its SSH server.";
  }
  if (/before handshake|identification/i.test(message)) {
    return "what answers there does not speak SSH, or refuses connections from here. Check the port.";
  }
  return "the connection broke during the SSH handshake. Check the server's SSH log.";
}

function loginRefused(target: RemoteTarget, { tried, offered }: LoginTrace): Failure {
  const given = [target.privateKey && "private key", target.password && "password"].filter(
    (name) => name !== undefined,
  );
  const why =
    tried.size === 0
      ? `it does not accept a ${given.join(" or a ")} from this user (it offers: ${offered.join(", ") || "nothing"}).`
      : `the user name or the ${given.join(" and the ")} was rejected. ${advice(target)}`;
  return new Failure("remote_failed", "auth_failed", `Cannot log in to ${place(target)} as "${target.user}": ${why}`);
}

function advice(target: RemoteTarget): string {
  return target.privateKey
    ? "Check that the public key is in this user's authorized_keys."
    : "Check both, and that the server allows password logins.";
}

function readError(error: unknown): { code: unknown; level: unknown; message: string } {
  if (!(error instanceof Error)) return { code: undefined, level: undefined, message: "" };
  const code = "code" in error ? error.code : undefined;
  return { code, level: "level" in error ? error.level : undefined, message: error.message };
}
