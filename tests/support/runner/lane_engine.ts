import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { run, say } from "./command.ts";
import { dockerAt } from "./docker_engine.ts";
import { emptyEngine } from "./empty_engine.ts";
import type { LaneNetwork } from "./lane_network.ts";

/** Where the engines of lanes keep their images from run to run. */
const DATA = process.env["SLIPWAY_TEST_ENGINES"] ?? "/var/lib/slipway-tests";
const LOGS = new URL("../../../.tools", import.meta.url).pathname;
const READY_MS = 60_000;
const STOP_MS = 30_000;
/** What builds may keep for the next run. */
const CACHE = "4GB";

/** An engine that only one lane uses. */
export interface LaneEngine extends AsyncDisposable {
  readonly host: string;
}

/** Starts the engine of a lane, in its network, with nothing in it but images; disposing stops it. */
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
    say(`Starting it again without what a run that was killed may have left half written: ${await reasonIn(log)}`);
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
  // The signal at this process's death keeps a killed run from leaving the daemon behind.
  const command = ["setpriv", "--pdeathsig=TERM", "--", "dockerd", "--host", host, ...places, ...options];
  const daemon = Bun.spawn([...network.inside(command)], {
    detached: true,
    // It and the many programs that it starts collect garbage less often: memory is what a machine with an engine has.
    env: { ...process.env, GOGC: "400" },
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
    // Else the bridge takes the lowest address of its containers, and when that one goes, others reach nobody for seconds.
    await run([...network.inside(["ip", "link", "set", "docker0", "address", "02:42:ac:11:00:01"])]);
    return {
      host,
      async [Symbol.asyncDispose]() {
        // What one that hangs does not remove is removed when it is started again.
        await removeAllButImages(host).catch((error: unknown) => say(`Lane ${lane} was left as it is: ${error}`));
        await run(["docker", "--host", host, "builder", "prune", "--force", "--keep-storage", CACHE]);
        await stop();
        await rm(work, { recursive: true, force: true });
      },
    };
  }
  await stop();
  return undefined;
}

/** Removes everything but images: nobody else uses this engine, so whatever is there was left by a test. */
async function removeAllButImages(host: string): Promise<void> {
  await emptyEngine(host, { imageLabel: "slipway.installation" });
  await run(["docker", "--host", host, "image", "prune", "--force"]);
}

/** An engine mounts its folder, and those of containers below it; one that was killed leaves them so. */
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
