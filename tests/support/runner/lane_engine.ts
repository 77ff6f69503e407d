import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { run, say } from "./command.ts";
import { dockerAt } from "./docker_engine.ts";
import { emptyEngine } from "./empty_engine.ts";
import type { LaneNetwork } from "./lane_network.ts";

/** The folder where the lanes' engines keep their images between runs. */
const DATA = process.env["SLIPWAY_TEST_ENGINES"] ?? "/var/lib/slipway-tests";
const LOGS = new URL("../../../.tools", import.meta.url).pathname;
const READY_MS = 60_000;
const STOP_MS = 30_000;
/** The size of the build cache to keep for the next run. */
const CACHE = "4GB";

/** A container engine used by a single lane. */
export interface LaneEngine extends AsyncDisposable {
  readonly host: string;
}

/** Starts the engine of a lane in its network, with nothing but images in it. Disposal stops it. */
export async function laneEngine(lane: number, network: LaneNetwork): Promise<LaneEngine> {
  const folder = join(DATA, `engine-${lane}`);
  const work = `/run/slipway-lane-${process.pid}-${lane}`;
  const log = join(LOGS, `dockerd-${lane}.log`);
  await mkdir(LOGS, { recursive: true });
  await mkdir(folder, { recursive: true });
  await mkdir(work, { recursive: true });
  say(`Starting the Docker engine of lane ${lane} …`);
  const start = (options: readonly string[]) => startDaemon({ lane, folder, work, log, network, options });
  const startAnew = async () => {
    say(`Starting it again without the data that a killed run may have left half written: ${await reasonIn(log)}`);
    await removeData(join(folder, "data"));
    return (await start([])) ?? (await start(["--storage-driver=vfs"]));
  };
  const daemon = (await start([])) ?? (await startAnew());
  if (!daemon) throw new Error(`Cannot start Docker for lane ${lane}: ${await reasonIn(log)}`);
  await removeAllButImages(daemon.host);
  return daemon;
}

interface Start {
  readonly lane: number;
  readonly folder: string;
  readonly work: string;
  readonly log: string;
  readonly network: LaneNetwork;
  readonly options: readonly string[];
}

async function startDaemon({ lane, folder, work, log, network, options }: Start): Promise<LaneEngine | undefined> {
  const host = `unix://${work}/docker.sock`;
  const places = ["--data-root", join(folder, "data"), "--exec-root", work, "--pidfile", join(folder, "pid")];
  // The parent-death signal keeps a killed run from leaving the daemon behind.
  const command = ["setpriv", "--pdeathsig=TERM", "--", "dockerd", "--host", host, ...places, ...options];
  const daemon = Bun.spawn([...network.inside(command)], {
    detached: true,
    // Less frequent garbage collection in the daemon and its many child processes: memory is plentiful here.
    env: { ...process.env, GOGC: "1000", GOMEMLIMIT: "1GiB" },
    stdio: ["ignore", "ignore", Bun.file(log)],
  });
  const stop = async () => {
    daemon.kill("SIGTERM");
    await Promise.race([daemon.exited, Bun.sleep(STOP_MS)]);
    daemon.kill("SIGKILL");
    await daemon.exited;
  };
  for (const end = Date.now() + READY_MS; Date.now() < end && daemon.exitCode === null; await Bun.sleep(100)) {
    if (!(await dockerAt(host))) continue;
    // Otherwise the bridge takes the lowest MAC address of its containers, and the removal of that one breaks
    // connections.
    await run([...network.inside(["ip", "link", "set", "docker0", "address", "02:42:ac:11:00:01"])]);
    return {
      host,
      async [Symbol.asyncDispose]() {
        // Leftovers of a hanging engine are removed at its next start.
        await removeAllButImages(host).catch((error: unknown) => say(`Lane ${lane} was not cleaned up: ${error}`));
        await run(["docker", "--host", host, "builder", "prune", "--force", "--keep-storage", CACHE]);
        await stop();
        await rm(work, { recursive: true, force: true });
      },
    };
  }
  await stop();
  return undefined;
}

/** Removes everything but images. Only tests use this engine, so everything in it is a leftover. */
async function removeAllButImages(host: string): Promise<void> {
  await emptyEngine(host, { imageLabel: "slipway.installation" });
  await run(["docker", "--host", host, "image", "prune", "--force"]);
}

/** Removes a data folder. First unmounts it and the container mounts below, which a killed engine leaves behind. */
async function removeData(path: string): Promise<void> {
  const mounted = (await readFile("/proc/mounts", "utf8")).split("\n").map((line) => line.split(" ")[1] ?? "");
  const own = mounted.filter((place) => place === path || place.startsWith(`${path}/`));
  for (const place of own.toReversed()) await run(["umount", "--lazy", place]);
  await rm(path, { recursive: true, force: true });
}

async function reasonIn(log: string): Promise<string | undefined> {
  const lines = (await readFile(log, "utf8").catch(() => "")).trim().split("\n");
  return lines.findLast((line) => /fail|fatal|error/i.test(line)) ?? lines.at(-1);
}
