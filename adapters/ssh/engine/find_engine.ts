import { Failure } from "../../../domain/failure.ts";
import type { RemoteTarget } from "../../../ports/servers/remote_hosts.ts";
import { place } from "../connection_failure.ts";
import type { Connection } from "../open_connection.ts";
import { SshSession } from "../session.ts";
import { type EngineRoute, openEngine } from "./engine_route.ts";

const USUAL_SOCKET = "/var/run/docker.sock";
const VERSION = ["version", "--format", "{{.Server.Version}}"];
const NOT_FOUND = [126, 127];

/** A program that relays connections to the engine of its user. */
function relay(program: string): EngineRoute {
  return { kind: "program", argv: [program, "system", "dial-stdio"] };
}

/**
 * Finds how to reach the engine that the user of a connection may use: Docker of the machine, Docker of the user,
 * Podman of the user, Podman of the machine. Rejects with a failure that says what to do there.
 */
export async function findEngine(
  connection: Connection,
  target: RemoteTarget,
  signal: AbortSignal,
): Promise<EngineRoute> {
  const session = new SshSession(connection, target);
  if (await accepts(connection, USUAL_SOCKET)) return { kind: "socket", path: USUAL_SOCKET };
  const { stdout } = await session.run(["id", "-u"], { signal });
  for (const path of userSockets(stdout.trim())) {
    if (await accepts(connection, path)) return { kind: "socket", path };
  }
  return throughProgram(session, target, signal);
}

/** Returns whether connections to a socket are accepted; not if the server forwards none. */
async function accepts({ client }: Connection, path: string): Promise<boolean> {
  try {
    const channel = await openEngine(client, { kind: "socket", path });
    channel.on("error", () => {});
    channel.destroy();
    return true;
  } catch {
    return false;
  }
}

function userSockets(uid: string): readonly string[] {
  const own = /^\d{1,10}$/.test(uid) ? [`/run/user/${uid}/docker.sock`, `/run/user/${uid}/podman/podman.sock`] : [];
  return [...own, "/run/podman/podman.sock"];
}

/** Uses the command-line program of an engine, which knows where its user's engine is, or says why that fails. */
async function throughProgram(session: SshSession, target: RemoteTarget, signal: AbortSignal): Promise<EngineRoute> {
  const docker = await session.run(["docker", ...VERSION], { signal });
  if (docker.exitCode === 0) return relay("docker");
  const podman = await session.run(["podman", ...VERSION], { signal });
  if (podman.exitCode === 0 && podman.stdout.trim() !== "") return relay("podman");
  if (!NOT_FOUND.includes(docker.exitCode)) throw refusal(target, docker.stderr);
  if (!NOT_FOUND.includes(podman.exitCode)) {
    throw failure(
      target,
      "engine_stopped",
      "Podman does not offer its API there. Run: systemctl --user enable --now podman.socket",
    );
  }
  throw failure(target, "engine_missing", "no container engine is installed there. Install Docker or Podman first");
}

function refusal(target: RemoteTarget, stderr: string): Failure {
  if (/permission denied/i.test(stderr)) {
    const next = "Add the user to the docker group there, or use another user";
    return failure(target, "engine_forbidden", `the user "${target.user}" may not use its container engine. ${next}`);
  }
  if (!/docker|daemon/i.test(stderr)) {
    const next = "Use a user with a shell that may use its container engine";
    return failure(target, "engine_forbidden", `no program can be run there as "${target.user}". ${next}`);
  }
  return failure(target, "engine_stopped", "its Docker Engine does not run. Start it there");
}

function failure(target: RemoteTarget, code: string, why: string): Failure {
  return new Failure("remote_failed", code, `Cannot use the containers of ${place(target)}: ${why}`);
}
