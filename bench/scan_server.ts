import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { DockerEngineInventories } from "../adapters/docker/inventory/engine_inventories.ts";
import { SshServerConnections } from "../adapters/ssh/engine/server_connections.ts";
import { type ManagedServer, startManagedServer } from "../tests/support/peers/managed_server.ts";
import { inRounds } from "./rounds.ts";
import type { Result } from "./run.ts";
import { tempFolder } from "./temp_folder.ts";

const CONTAINERS = 100;
const ROUNDS = 9;
const CREATE = `for n in $(seq ${CONTAINERS}); do docker create --env N=$n --label n=$n tiny >/dev/null || exit; done`;
const BY_HAND = "docker inspect $(docker ps -aq)";

/**
 * Reads 100 containers of a server, from the SSH login to the logout, compared with OpenSSH's client that runs Docker's
 * client there: one login, one list, one inspection of all.
 */
export async function scan100(): Promise<Result> {
  await using server = await startManagedServer();
  await server.loadTinyImage();
  await server.exec(["sh", "-c", CREATE]);
  await using folder = await tempFolder();
  const byHand = await sshCommand(server, folder.path);
  const inventories = new DockerEngineInventories();
  const { ratio, ours, other, spread } = await inRounds(ROUNDS, {
    ours: () =>
      timeOf(async () => {
        await using connections = new SshServerConnections({ folder: folder.path });
        await using connection = await connections.open(server.target("worker"));
        const { containers } = await inventories.read(connection.engineAddress);
        return containers.length;
      }),
    other: () =>
      timeOf(async () => {
        const child = Bun.spawn([...byHand, BY_HAND], { stdio: ["ignore", "pipe", "inherit"] });
        return ((await child.stdout.json()) as readonly unknown[]).length;
      }),
  });
  const details = `slipway ${ours.toFixed(0)} ms, by hand ${other.toFixed(0)} ms, ${CONTAINERS} containers, ${spread}`;
  return { ratio, details: `${details}, at most 1.5` };
}

/** The arguments of OpenSSH's client that log in to a server. */
async function sshCommand({ host, port, privateKey }: ManagedServer, folder: string): Promise<readonly string[]> {
  const key = join(folder, "key");
  await Bun.write(key, privateKey);
  await chmod(key, 0o600);
  const options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR", "IdentitiesOnly=yes"];
  const words = options.flatMap((option) => ["-o", option]);
  return ["ssh", "-F", "none", "-i", key, "-p", `${port}`, ...words, `worker@${host}`];
}

async function timeOf(read: () => Promise<number>): Promise<number> {
  const started = performance.now();
  const found = await read();
  const ms = performance.now() - started;
  if (found !== CONTAINERS) throw new Error(`Found ${found} of ${CONTAINERS} containers`);
  return ms;
}
