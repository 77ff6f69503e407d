import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { run } from "../runner/command.ts";
import { BASE } from "./docker_images.ts";
import { DOCKER_HOST, tinyImage } from "./docker_world.ts";
import { type TcpGate, tcpGate } from "../faults/tcp_gate.ts";
import { TEST_LABEL } from "../runner/test_leftovers.ts";

const READY_WITHIN_MS = 30_000;

/** A local image registry behind a TCP gate. Disposal removes it and everything that was pulled from it. */
export class OwnRegistry implements AsyncDisposable {
  /** The registry host in image names; leads through the gate. */
  readonly host: string;
  readonly gate: TcpGate;
  /** The address of the registry, bypassing the gate. */
  readonly direct: string;
  readonly #opened: AsyncDisposableStack;

  private constructor(direct: string, gate: TcpGate, opened: AsyncDisposableStack) {
    this.direct = direct;
    this.gate = gate;
    this.host = `127.0.0.1:${gate.port}`;
    this.#opened = opened;
    opened.defer(() => removePulled(this.host));
  }

  static async start(): Promise<OwnRegistry> {
    const opened = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), "slipway-"));
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    const config = {
      version: "0.1",
      log: { level: "info" },
      storage: { filesystem: { rootdirectory: join(folder, "data") } },
      http: { addr: "127.0.0.1:0" },
    };
    // JSON is valid YAML.
    await writeFile(join(folder, "config.yml"), JSON.stringify(config));
    const command = ["setpriv", "--pdeathsig=KILL", "--", "docker-registry", "serve", join(folder, "config.yml")];
    const log = join(folder, "log");
    const server = Bun.spawn(command, { stdio: ["ignore", Bun.file(log), Bun.file(log)] });
    opened.defer(async () => {
      server.kill("SIGKILL");
      await server.exited;
    });
    for (const until = Date.now() + READY_WITHIN_MS; ; await Bun.sleep(50)) {
      const port = /listening on 127\.0\.0\.1:(\d+)/.exec(await Bun.file(log).text())?.[1];
      if (port !== undefined) {
        const gate = opened.use(await tcpGate(Number(port)));
        return new OwnRegistry(`127.0.0.1:${port}`, gate, opened);
      }
      if (Date.now() > until) throw new Error(`The registry does not start: ${await Bun.file(log).text()}`);
    }
  }

  /**
   * Pushes a new image that exposes port 5432 under a name of this registry and removes it from the engine; resolves to
   * its id.
   */
  async push(name: string): Promise<string> {
    await tinyImage();
    const direct = name.replace(/^[^/]+/, this.direct);
    const folder = await mkdtemp(join(tmpdir(), "slipway-"));
    const text = `FROM ${BASE}\nLABEL ${TEST_LABEL}=${crypto.randomUUID()}\nEXPOSE 5432 53/udp\n`;
    await writeFile(join(folder, "Dockerfile"), text);
    try {
      const image = await docker("build", "--quiet", "--tag", direct, folder);
      await docker("push", direct);
      await removePulled(this.direct);
      return image;
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}

/** Removes all names that the engine has for images of a registry. */
export async function removePulled(host: string): Promise<void> {
  const engine = new EngineApi(DOCKER_HOST);
  const query = { filters: JSON.stringify({ reference: [`${host}/*`, `${host}/*/*`] }) };
  interface Listed {
    readonly RepoTags: readonly string[] | null;
    readonly RepoDigests: readonly string[] | null;
  }
  for (const { RepoTags, RepoDigests } of await engine.json<readonly Listed[]>("GET", "/images/json", { query })) {
    const names = [...(RepoTags ?? []), ...(RepoDigests ?? [])].filter((name) => name.startsWith(`${host}/`));
    for (const name of names) await engine.request("DELETE", `/images/${name}`).catch(() => {});
  }
}

async function docker(...words: readonly string[]): Promise<string> {
  const { ok, output, lastLine } = await run(["docker", ...words], { environment: { DOCKER_BUILDKIT: "1" } });
  if (!ok) throw new Error(`docker ${words.join(" ")}: ${lastLine}`);
  return output.trim();
}
