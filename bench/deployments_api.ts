import postgres from "postgres";
import { CryptoVault } from "../adapters/crypto/vault.ts";
import { embeddedPostgres } from "../tests/support/embedded_postgres.ts";
import { postgresWorld } from "../adapters/postgres/postgres_world.ts";
import { aDeployment } from "../tests/support/store_builders.ts";
import { httpLoad } from "./http_load.ts";
import { printed, start, stop } from "./process.ts";
import type { Result } from "./run.ts";
import { median, tempFolder } from "./temp_folder.ts";

const TOKEN = "slp_bench_0123456789012345678901234567890123456789";
const PROJECTS = 20;
const DEPLOYMENTS = 1_000;
const CONNECTIONS = 16;
const ROUNDS = 5;

/** An authenticated page of 50 of 1,000 deployments; also of ten times as many. */
export function deploymentsList(): Promise<Result> {
  return compare({ ours: () => "/api/deployments?perPage=50", bare: "/list", requests: 600 });
}

/** One of 1,000 deployments, authenticated; also of ten times as many. */
export function deploymentGet(): Promise<Result> {
  return compare({ ours: (id) => `/api/deployments/${id}`, bare: "/get", requests: 3_000 });
}

interface Comparison {
  readonly ours: (deploymentId: string) => string;
  readonly bare: string;
  readonly requests: number;
}

/** Throughput of Slipway against a bare server with the same SQL and JSON on the same database, in turns. */
async function compare(comparison: Comparison): Promise<Result> {
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
  try {
    const port = Number((await printed(slipway, /API +http:\/\/127\.0\.0\.1:(\d+)/))[1]);
    const projects = await makeProjects(port);
    const store = { url: database.url, folder: folder.path, port, projects };
    const few = await measure(comparison, store, DEPLOYMENTS);
    const many = await measure({ ...comparison, rounds: 3 }, store, DEPLOYMENTS * 9);
    return {
      ratio: few.ratio,
      details:
        `slipway ${few.slipway}/s, bare ${few.bare}/s, ${CONNECTIONS} connections, at least 0.7; ` +
        `${DEPLOYMENTS * 10} rows: ${many.ratio.toFixed(2)}, slipway ${many.slipway}/s, bare ${many.bare}/s`,
    };
  } finally {
    await stop(slipway);
  }
}

interface Store {
  readonly url: string;
  readonly folder: string;
  readonly port: number;
  readonly projects: readonly { readonly id: string; readonly organizationId: string }[];
}

async function measure(
  { ours, bare, requests, rounds = ROUNDS }: Comparison & { readonly rounds?: number },
  store: Store,
  added: number,
) {
  const deployment = await fill(store, added);
  const other = start("bench/bare_deployments.ts", [store.url, store.projects[0]!.organizationId, deployment]);
  try {
    const barePort = Number((await printed(other, /(\d+)\n/))[1]);
    const load = (at: number, path: string) =>
      httpLoad({ port: at, request: requestText(path), connections: CONNECTIONS, requests });
    const both = async () => ({
      slipway: await load(store.port, ours(deployment)),
      bare: await load(barePort, bare),
    });
    await both();
    const rates: Awaited<ReturnType<typeof both>>[] = [];
    for (let round = 0; round < rounds; round++) rates.push(await both());
    const per = (pick: (rate: (typeof rates)[number]) => number) => Math.round(median(rates.map(pick)));
    return {
      ratio: median(rates.map((rate) => rate.slipway / rate.bare)),
      slipway: per((rate) => rate.slipway),
      bare: per((rate) => rate.bare),
    };
  } finally {
    await stop(other);
  }
}

async function makeProjects(port: number): Promise<Store["projects"]> {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  return Promise.all(
    Array.from({ length: PROJECTS }, async (_, index) => {
      const body = JSON.stringify({ name: `Project ${index}` });
      const answer = await fetch(`http://127.0.0.1:${port}/api/projects`, { method: "POST", headers, body });
      return ((await answer.json()) as { data: Store["projects"][number] }).data;
    }),
  );
}

/** Adds finished deployments behind the server's back, all like one, and gives the id of that one. */
async function fill({ url, folder, projects }: Store, added: number): Promise<string> {
  await using world = await postgresWorld({ url, vault: await CryptoVault.load({ folder }) });
  const { id: projectId, organizationId } = projects[0]!;
  const at = new Date();
  const times = { createdAt: at, queuedAt: at, startedAt: at, builtAt: at, finishedAt: at };
  const urls = ["http://project.localhost:4480"];
  const { id } = await aDeployment(world, { organizationId, projectId, ...times, status: "ready", urls });
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
  await sql`
    insert into deployments (id, organization_id, project_id, version, status, held, cancel_requested, attempts,
      created_at, queued_at, last_seq, record)
    select left(model.id, 20) || lpad(number::text, 10, '0'), model.organization_id, projects.id, 1000 + number + ${added},
      model.status, false, false, 1, model.created_at - number * interval '1 s', model.queued_at, 0, model.record
    from deployments as model, generate_series(1, ${added - 1}::integer) as number
      join (select id, row_number() over (order by id) as place from projects) as projects
        on projects.place = 1 + number % ${projects.length}::integer
    where model.id = ${id}`;
  await sql`analyze deployments`;
  await sql.end();
  return id;
}

function requestText(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
}
