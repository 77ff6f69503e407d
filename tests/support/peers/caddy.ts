import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CaddyAdmin } from "../../../adapters/edge/caddy/caddy_admin.ts";
import type { CaddyConfig } from "../../../adapters/edge/caddy/caddy_config.ts";

const READY_WITHIN_MS = 60_000;
const MIGRATION = "/proc/sys/net/ipv4/tcp_migrate_req";

/** A Caddy as an operator runs it, whose admin API listens on a Unix socket. It ends with this process. */
export class Caddy implements AsyncDisposable {
  readonly folder: string;
  /** The address of its admin API. */
  readonly adminAddress: string;
  readonly admin: CaddyAdmin;
  #program: Bun.Subprocess | undefined;

  private constructor(folder: string) {
    this.folder = folder;
    this.adminAddress = `unix:${join(folder, "admin.sock")}`;
    this.admin = new CaddyAdmin(this.adminAddress);
  }

  /** Prepares one that is not running yet. `config` is what the operator has configured besides. */
  static async prepare(config: CaddyConfig = {}): Promise<Caddy> {
    await migrateConnections();
    const caddy = new Caddy(await mkdtemp(join(tmpdir(), "slipway-")));
    const admin = { listen: `unix/${join(caddy.folder, "admin.sock")}`, config: { persist: false } };
    const logging = { logs: { default: { level: "WARN" } } };
    await writeFile(join(caddy.folder, "caddy.json"), JSON.stringify({ admin, logging, ...config }));
    return caddy;
  }

  /** Starts one and waits until it answers. */
  static async start(config: CaddyConfig = {}): Promise<Caddy> {
    const caddy = await Caddy.prepare(config);
    await caddy.start();
    return caddy;
  }

  /** Starts it, with nothing but what the operator has configured. */
  async start(): Promise<void> {
    const command = ["caddy", "run", "--config", join(this.folder, "caddy.json")];
    const log = Bun.file(join(this.folder, "log"));
    this.#program = Bun.spawn(["setpriv", "--pdeathsig=KILL", "--", ...command], {
      env: { PATH: process.env["PATH"], HOME: this.folder },
      stdio: ["ignore", log, log],
    });
    for (const until = Date.now() + READY_WITHIN_MS; ; await Bun.sleep(20)) {
      const answer = await this.admin.read().catch(() => undefined);
      if (answer) return;
      if (Date.now() > until) throw new Error(`Caddy does not start: ${await log.text()}`);
    }
  }

  /** Kills it. */
  async kill(): Promise<void> {
    this.#program?.kill("SIGKILL");
    await this.#program?.exited;
  }

  /** Lets it hang, until it is signalled to go on. */
  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#program?.kill(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Lets Linux hand connections that wait on to the next listener of a port, as Caddy needs it to lose none. */
async function migrateConnections(): Promise<void> {
  if ((await Bun.file(MIGRATION).text()).trim() !== "0") return;
  try {
    await writeFile(MIGRATION, "1");
  } catch {
    throw new Error("Cannot test with Caddy: as root, run first: sysctl -w net.ipv4.tcp_migrate_req=1");
  }
}
