import postgres from "postgres";
import { migrate } from "../../../adapters/postgres/migrate.ts";
import { newToken } from "../../../domain/identity/token.ts";
import { run } from "../runner/command.ts";
import { DOCKER_HOST } from "../peers/docker_world.ts";
import { emptyEngine } from "../runner/empty_engine.ts";
import { SlipwayProcess } from "./slipway_process.ts";
import { type TcpGate, tcpGate } from "../faults/tcp_gate.ts";
import { testDatabase } from "../database/test_database.ts";

/** A server that deploys into containers of the machine's engine; disposing it leaves nothing there. */
export interface DockerServer extends AsyncDisposable {
  readonly slipway: SlipwayProcess;
  /** The way to the database, which can be watched and cut. */
  readonly gate: TcpGate;
  readonly databaseUrl: string;
  /** What its containers, networks and images are labelled with. */
  readonly installation: string;
  /** Asks the engine; resolves to the lines that it prints. */
  docker(...words: readonly string[]): Promise<string[]>;
}

/** Starts one, at the engine that `DOCKER_HOST` of the settings names. */
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
  let installation = "";
  // An engine of the test's own goes with all that it holds.
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
      // What ends right after it was started is not to pass for up.
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
