import { conflict, Failure, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Server, ServerCredentials } from "../../domain/servers/server.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { RemoteHosts, RemoteSession, RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import type { Servers } from "../../ports/servers/servers.ts";
import { findServer } from "./find_server.ts";

const CHECK_MS = 20_000;
const VERSION = ["docker", "version", "--format", "{{.Server.Version}}"] as const;

export interface ServerReport {
  readonly server: Server;
  readonly hostKey: string;
  /** The container engine, if one responded. */
  readonly engine: { readonly name: "docker"; readonly version: string } | null;
  /** The next step, in words for a person. */
  readonly message: string;
}

export interface CheckServerPorts {
  readonly clock: Clock;
  readonly remoteHosts: RemoteHosts;
  readonly servers: Servers;
}

/**
 * Connects to a server over SSH, pins its host key the first time and verifies it after that, and returns which
 * container engine responds there.
 */
export function checkServer(ports: CheckServerPorts) {
  const { clock, remoteHosts, servers } = ports;
  const find = findServer(ports);
  return async function (by: Principal, id: string, signal?: AbortSignal): Promise<ServerReport> {
    const server = await find(by, id, "server:write");
    const credentials = await servers.credentials(by.organizationId, id);
    if (!credentials) throw notFound("server");
    const within = AbortSignal.any([AbortSignal.timeout(CHECK_MS), ...(signal ? [signal] : [])]);
    const { sshHost, sshPort } = server;
    const record = (error: string | null, hostKey: string | null) =>
      servers.checked(by.organizationId, id, { sshHost, sshPort, at: clock.now(), error, hostKey });
    try {
      await using session = await remoteHosts.connect(targetOf(server, credentials), { signal: within });
      const engine = await engineOf(session, within);
      const checked = await record(null, session.hostKey);
      if (!checked) throw notFound("server");
      if (checked.hostKey !== session.hostKey) {
        throw conflict(
          "server_changed",
          "Cannot report a result: the server was changed during the check. Check it again",
        );
      }
      return { server: checked, hostKey: session.hostKey, ...engine };
    } catch (error) {
      if (error instanceof Failure && error.kind !== "not_found") await record(error.message, null);
      throw error;
    }
  };
}

/** The SSH target of a stored server. */
export function targetOf(server: Server, credentials: ServerCredentials): RemoteTarget {
  return {
    host: server.sshHost,
    port: server.sshPort,
    user: server.sshUser,
    password: credentials.sshPassword ?? undefined,
    privateKey: credentials.sshPrivateKey ?? undefined,
    keyPassphrase: credentials.sshKeyPassphrase ?? undefined,
    hostKey: server.hostKey ?? undefined,
  };
}

async function engineOf(
  session: RemoteSession,
  signal: AbortSignal,
): Promise<Pick<ServerReport, "engine" | "message">> {
  const { exitCode, stdout, stderr } = await session.run(VERSION, { signal });
  const version = stdout.trim();
  if (exitCode === 0 && /^[\w.+~-]{1,64}$/.test(version)) {
    return { engine: { name: "docker", version }, message: `The server answers and runs Docker ${version}` };
  }
  return { engine: null, message: whyNoEngine(exitCode, stderr) };
}

function whyNoEngine(exitCode: number, stderr: string): string {
  if (exitCode === 127) return "The server answers, but Docker is not installed there: install it to run containers";
  if (/permission denied/i.test(stderr)) {
    return "The server answers, but this user may not use Docker: add the user to the docker group or use another one";
  }
  return "The server answers, but its Docker Engine does not: start it there to run containers";
}
