import { embeddedPostgres } from "../tests/support/embedded_postgres.ts";
import { httpLoad } from "./http_load.ts";
import { printed, start, stop } from "./process.ts";
import type { Result } from "./run.ts";
import { median, tempFolder } from "./temp_folder.ts";

const TOKEN = "slp_bench_0123456789012345678901234567890123456789";
const PROJECTS = 1_000;
const CONNECTIONS = 16;
const ROUNDS = 7;

/** An authenticated page of 50 of 1,000 projects. */
export function apiList(): Promise<Result> {
  return compare({ ours: () => "/api/projects?perPage=50", bare: "/list", requests: 1_500 });
}

/** One project, authenticated. */
export function apiGet(): Promise<Result> {
  return compare({ ours: (id) => `/api/projects/${id}`, bare: "/get", requests: 6_000 });
}

interface Comparison {
  readonly ours: (projectId: string) => string;
  readonly bare: string;
  readonly requests: number;
}

/** Throughput of Slipway against a bare server with the same SQL and JSON on the same database, in turns. */
async function compare({ ours, bare, requests }: Comparison): Promise<Result> {
  await using folder = await tempFolder();
  await using database = await embeddedPostgres({ folder: folder.path });
  const env = {
    PORT: "0",
    DATABASE_URL: database.url,
    SLIPWAY_DATA: folder.path,
    SLIPWAY_ADMIN_TOKEN: TOKEN,
    LOG_FORMAT: "json",
  };
  const slipway = start("main.ts", [], env, "ignore");
  const port = Number((await printed(slipway, /API +http:\/\/127\.0\.0\.1:(\d+)/))[1]);
  const { projectId, organizationId } = await fill(port);
  const other = start("bench/bare_server.ts", [database.url, organizationId, projectId]);
  const barePort = Number((await printed(other, /(\d+)\n/))[1]);
  try {
    const load = (at: number, path: string, count: number) =>
      httpLoad({ port: at, request: requestText(path), connections: CONNECTIONS, requests: count });
    await load(port, ours(projectId), requests);
    await load(barePort, bare, requests);
    const rates: { slipway: number; bare: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      rates.push({ slipway: await load(port, ours(projectId), requests), bare: await load(barePort, bare, requests) });
    }
    const ratio = median(rates.map((rate) => rate.slipway / rate.bare));
    const per = (pick: (rate: (typeof rates)[number]) => number) => Math.round(median(rates.map(pick)));
    return {
      ratio,
      details: `slipway ${per((rate) => rate.slipway)}/s, bare ${per((rate) => rate.bare)}/s, ${CONNECTIONS} connections, at least 0.7`,
    };
  } finally {
    await stop(slipway);
    await stop(other);
  }
}

async function fill(port: number): Promise<{ projectId: string; organizationId: string }> {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  let last = { id: "", organizationId: "" };
  for (let index = 0; index < PROJECTS; index++) {
    const body = JSON.stringify({
      name: `Project ${index}`,
      framework: "bun",
      startCommand: "bun run start",
      port: 3000,
    });
    const answer = await fetch(`http://127.0.0.1:${port}/api/projects`, { method: "POST", headers, body });
    if (answer.status !== 201) throw new Error(await answer.text());
    ({ data: last } = (await answer.json()) as { data: typeof last });
  }
  return { projectId: last.id, organizationId: last.organizationId };
}

function requestText(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
}
