import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../runner/command.ts";

const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 30_000;
let count = 0;

/** A separate Docker Engine for one test, which may stop it. Disposal removes everything. */
export class OwnEngine implements AsyncDisposable {
  readonly host: string;
  readonly #folder: string;
  readonly #bridge: string;
  #daemon: Bun.Subprocess | undefined;

  private constructor(folder: string, bridge: string) {
    this.#folder = folder;
    this.#bridge = bridge;
    this.host = `unix://${join(folder, "docker.sock")}`;
  }

  /** Starts an engine with these images of the machine's engine. */
  static async start(images: readonly string[]): Promise<OwnEngine> {
    const bridge = `slipway${process.pid % 10_000}-${count++}`.slice(0, 15);
    const engine = new OwnEngine(await mkdtemp(join(tmpdir(), "slipway-")), bridge);
    const network = `10.${200 + (count % 50)}.${process.pid % 250}.1/24`;
    await must(["ip", "link", "add", bridge, "type", "bridge"]);
    await must(["ip", "addr", "add", network, "dev", bridge]);
    await must(["ip", "link", "set", bridge, "up"]);
    await engine.start();
    const archive = join(engine.#folder, "images.tar");
    await must(["docker", "save", "-o", archive, ...images]);
    await must(["docker", "-H", engine.host, "load", "-i", archive]);
    await rm(archive);
    return engine;
  }

  /** Starts it, or restarts it with its existing data. */
  async start(): Promise<void> {
    const inFolder = (name: string) => join(this.#folder, name);
    const own = ["--data-root", inFolder("data"), "--exec-root", inFolder("exec"), "--pidfile", inFolder("pid")];
    // Leaves the iptables rules of the machine's engine alone; the userland proxy publishes ports.
    const apart = ["--bridge", this.#bridge, "--iptables=false", "--ip-masq=false", "--shutdown-timeout", "3"];
    const command = ["setpriv", "--pdeathsig=TERM", "--", "dockerd", "--host", this.host, ...own, ...apart];
    this.#daemon = Bun.spawn(command, { stdio: ["ignore", "ignore", Bun.file(inFolder("log"))] });
    for (const until = Date.now() + READY_WITHIN_MS; ; await Bun.sleep(100)) {
      if ((await run(["docker", "-H", this.host, "version"], { timeout: 10_000 })).ok) return;
      if (Date.now() > until) throw new Error(`The engine does not start: ${await readFile(inFolder("log"), "utf8")}`);
    }
  }

  /** Stops it gracefully, as an operator does, with all its containers; kills it after a timeout. */
  async stop(): Promise<void> {
    const daemon = this.#daemon!;
    daemon.kill("SIGTERM");
    const ended = await Promise.race([daemon.exited, Bun.sleep(STOP_WITHIN_MS).then(() => undefined)]);
    if (ended === undefined) daemon.kill("SIGKILL");
    await daemon.exited;
  }

  /** Runs the Docker CLI against it; resolves to its output. */
  async docker(...words: readonly string[]): Promise<string> {
    const child = Bun.spawn(["docker", "-H", this.host, ...words], { stdout: "pipe", stderr: "pipe" });
    const [text, complaint, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (code !== 0) throw new Error(`docker ${words.join(" ")}: ${complaint}`);
    return text.trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#daemon?.exitCode === null) {
      const left = (await this.docker("ps", "-aq")).split("\n").filter((id) => id !== "");
      if (left.length > 0) await this.docker("rm", "-f", "-v", ...left);
      await this.stop();
    }
    await run(["ip", "link", "delete", this.#bridge]);
    const mounts = (await readFile("/proc/mounts", "utf8")).split("\n").flatMap((line) => line.split(" ")[1] ?? []);
    for (const place of mounts.filter((mount) => mount.startsWith(`${this.#folder}/`)).toReversed()) {
      await run(["umount", "-l", place]);
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function must(command: readonly string[]): Promise<void> {
  const { ok, lastLine } = await run(command);
  if (!ok) throw new Error(`${command.join(" ")}: ${lastLine}`);
}
