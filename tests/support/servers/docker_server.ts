import postgres from "postgres";
import { EngineApi, EngineRefusal } from "../../../adapters/docker/engine/engine_api.ts";
import { migrate } from "../../../adapters/postgres/migrate.ts";
import { newToken } from "../../../domain/identity/token.ts";
import { run } from "../runner/command.ts";
import { DOCKER_HOST } from "../peers/docker_world.ts";
import { emptyEngine } from "../runner/empty_engine.ts";
import { SlipwayProcess } from "./slipway_process.ts";
import { type TcpGate, tcpGate } from "../faults/tcp_gate.ts";
import { testDatabase } from "../database/test_database.ts";

/** A server that deploys containers on the machine's engine. Disposal removes all of them. */
export interface DockerServer extends AsyncDisposable {
  readonly slipway: SlipwayProcess;
  /** The proxy in front of the database, which can be watched and cut. */
  readonly gate: TcpGate;
  readonly databaseUrl: string;
  /** The installation label of its containers, networks and images. */
  readonly installation: string;
  /** Runs the Docker CLI; resolves to its output lines. */
  docker(...words: readonly string[]): Promise<string[]>;
  /** Asks the engine for everything with a label; costs a tenth of what the CLI does. */
  list<T>(path: "/containers/json" | "/images/json" | "/volumes", label: string): Promise<T>;
  /** What the engine tells about a container; `undefined` if there is none with this id. */
  inspect<T>(container: string): Promise<T | undefined>;
}

/** Starts a server that uses the engine at `DOCKER_HOST` of the settings. */
export async function dockerServer(settings: Readonly<Record<string, string>> = {}): Promise<DockerServer> {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await testDatabase({ prepare: migrate }));
  const gate = opened.use(await tcpGate(Number(new URL(url).port)));
  const docker = async (...words: readonly string[]) => {
    const host = settings["DOCKER_HOST"];
    const { ok, output, lastLine } = await run(["docker", ...(host ? ["-H", host] : []), ...words]);
    if (!ok) throw new Error(`docker ${words.join(" ")}: ${lastLine}`);
    return output.split("\n").filter((line) => line !== "");
  };
  const engine = new EngineApi(settings["DOCKER_HOST"] ?? DOCKER_HOST);
  let installation = "";
  // A test's own engine is removed with everything in it.
  if (!settings["DOCKER_HOST"]) {
    opened.defer(async () => {
      const label = `slipway.installation=${installation}`;
      if (installation !== "") await emptyEngine(DOCKER_HOST, { label, imageLabel: label });
    });
  }
  const slipway = opened.use(
    await SlipwayProcess.start({
      DATABASE_URL: Object.assign(new URL(url), { port: String(gate.port) }).href,
      SLIPWAY_ADMIN_TOKEN: newToken(),
      SLIPWAY_RUNTIME: "docker",
      DOCKER_HOST,
      // Long enough that a program that exits right after its start does not count as up.
      PROBATION_SECONDS: "1.5",
      ...settings,
    }),
  );
  installation = await installationOf(url);
  const lifetime = opened.move();
  return {
    slipway,
    gate,
    databaseUrl: url,
    installation,
    docker,
    list(path, label) {
      const all = path === "/containers/json";
      return engine.json("GET", path, { query: { all, filters: JSON.stringify({ label: [label] }) } });
    },
    inspect: (container) =>
      engine.json<never>("GET", `/containers/${container}/json`).catch((error: unknown) => {
        if (error instanceof EngineRefusal && error.status === 404) return undefined;
        throw error;
      }),
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

async function installationOf(url: string): Promise<string> {
  const sql = postgres(url, { max: 1 });
  try {
    const [row] = await sql<{ id: string }[]>`select id from installation`;
    return row!.id;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
