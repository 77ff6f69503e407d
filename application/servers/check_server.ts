import type { Principal } from "../../domain/identity/permission.ts";
import type { Server } from "../../domain/servers/server.ts";
import type { RemoteHosts, RemoteSession, RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import { type OnServerPorts, workOnServer } from "./work_on_server.ts";

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

export interface CheckServerPorts extends OnServerPorts {
  readonly remoteHosts: RemoteHosts;
}

/**
 * Connects to a server over SSH, pins its host key the first time and verifies it after that, and returns which
 * container engine responds there.
 */
export function checkServer(ports: CheckServerPorts) {
  const onServer = workOnServer(ports);
  return async function (by: Principal, id: string, signal?: AbortSignal): Promise<ServerReport> {
    const within = AbortSignal.any([AbortSignal.timeout(CHECK_MS), ...(signal ? [signal] : [])]);
    const check = async (target: RemoteTarget) => {
      await using session = await ports.remoteHosts.connect(target, { signal: within });
      return { hostKey: session.hostKey, result: await engineOf(session, within) };
    };
    const { server, hostKey, result } = await onServer(by, id, check, signal);
    return { server, hostKey, ...result };
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
