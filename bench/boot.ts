import postgres from "postgres";
import { embeddedPostgres } from "../tests/support/database/embedded_postgres.ts";
import { startServer, stop } from "./process.ts";
import { inRounds } from "./rounds.ts";
import type { Result } from "./run.ts";
import { tempFolder } from "./temp_folder.ts";

const ROUNDS = 5;

/**
 * Time from the start on an initialised data folder to the first 200, compared with starting the same embedded
 * PostgreSQL alone.
 */
export async function boot(): Promise<Result> {
  await using folder = await tempFolder();
  await bootSlipway(folder.path);
  const { ratio, ours, other, spread } = await inRounds(ROUNDS, {
    ours: () => bootSlipway(folder.path),
    other: () => bootPostgres(folder.path),
  });
  return {
    ratio,
    details: `slipway ${Math.round(ours)} ms, PostgreSQL alone ${Math.round(other)} ms, ${spread}, at most 6`,
  };
}

async function bootPostgres(folder: string): Promise<number> {
  const started = performance.now();
  await using database = await embeddedPostgres({ folder });
  const sql = postgres(database.url, { max: 1 });
  await sql`select 1`;
  const ms = performance.now() - started;
  await sql.end();
  return ms;
}

async function bootSlipway(folder: string): Promise<number> {
  const port = await freePort();
  const started = performance.now();
  const slipway = startServer({ PORT: String(port), SLIPWAY_DATA: folder });
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => undefined);
    if (answer?.status === 200) break;
    await Bun.sleep(2);
  }
  const ms = performance.now() - started;
  await stop(slipway);
  return ms;
}

async function freePort(): Promise<number> {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = server;
  await server.stop(true);
  return port!;
}
