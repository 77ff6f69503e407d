import postgres from "postgres";
import { CryptoVault } from "../adapters/crypto/vault.ts";
import { postgresWorld } from "../adapters/postgres/postgres_world.ts";
import { aDeployment } from "../tests/support/database/store_builders.ts";
import { httpLoad } from "./http_load.ts";
import { printed, start, stop } from "./process.ts";
import type { Line } from "./run.ts";
import { type RunningSlipway, runningSlipway } from "./running_slipway.ts";
import { inRounds, type Measured } from "./rounds.ts";

const CONNECTIONS = 32;
const PROJECTS = 1_000;
const DESTINATIONS = 20;
/** How many deployments, and entries of the audit log, there are at each size. */
const SIZES = [1_000, 20_000, 200_000] as const;
const ROUNDS = 7;
const LOAD_MS = 250;
const WARM_MS = 700;

/** What a benchmark reads: from Slipway, and the same from the best reader. */
interface Read {
  readonly name: string;
  readonly ours: string;
  readonly best: string;
  readonly atLeast: number;
}

/** Reads through the API, authenticated, compared with the best reader; then again with more and more history. */
export async function* reads(): AsyncGenerator<Line> {
  await using opened = new AsyncDisposableStack();
  const slipway = opened.use(await runningSlipway());
  const sql = postgres(slipway.url, { max: 1, onnotice: () => {} });
  opened.defer(() => sql.end());
  const ids = await fill(slipway, sql);
  const best = start("bench/best_reader.ts", [slipway.url, slipway.token]);
  opened.defer(() => stop(best));
  const bestPort = Number((await printed(best, /(\d+)\n/))[1]);
  await grow(sql, SIZES[0]);
  await copyAnswers(slipway, sql, ids);
  const compare = (read: Read) => compareOnce(read, { slipway, bestPort });
  const all = readsOf(ids);
  for (const { ours, best: other } of all) {
    // Until hot code is compiled.
    await load(slipway.port, ours, slipway.token, WARM_MS);
    await load(bestPort, other, slipway.token, WARM_MS);
  }
  const first = new Map<Read, Measured>();
  for (const read of all) first.set(read, await compare(read));
  const growth = new Map<Read, string[]>();
  for (const size of SIZES.slice(1)) {
    await grow(sql, size);
    for (const read of all.filter(({ name }) => GROWING.has(name))) {
      // Both ratios are to the best reader at the time, so that what else the machine does cancels out.
      const { ratio } = await compare(read);
      const text = `${size.toLocaleString("en")} rows: ${(ratio / first.get(read)!.ratio).toFixed(2)} of itself`;
      growth.set(read, [...(growth.get(read) ?? []), text]);
    }
  }
  for (const [read, { ratio, spread, ours, other }] of first) {
    const grown = growth.get(read) ?? [];
    const rates = `slipway ${Math.round(ours)}/s, best ${Math.round(other)}/s, ${CONNECTIONS} connections`;
    yield { name: read.name, ratio, details: [rates, spread, `at least ${read.atLeast}`, ...grown].join("; ") };
  }
}

/** The names of these benchmarks. */
export const READS = [
  "health",
  "deployments-list",
  "deployment-get",
  "api-list",
  "api-get",
  "destinations-list",
  "audit-list",
] as const;
const GROWING: ReadonlySet<string> = new Set(["deployments-list", "deployment-get", "audit-list"]);

function readsOf({ deployment, project }: Ids): readonly Read[] {
  return [
    { name: "health", ours: "/api/health", best: "/health", atLeast: 0.6 },
    list("deployments-list", "/api/deployments?perPage=50", "deployments"),
    get("deployment-get", `/api/deployments/${deployment}`, `deployments/${deployment}`),
    list("api-list", "/api/projects?perPage=50", "projects"),
    get("api-get", `/api/projects/${project}`, `projects/${project}`),
    list("destinations-list", "/api/backup-destinations", "destinations"),
    list("audit-list", "/api/audit?perPage=50", "audit"),
  ];
}

function list(name: string, ours: string, kind: string): Read {
  return { name, ours, best: `/list/${kind}`, atLeast: 0.6 };
}

function get(name: string, ours: string, what: string): Read {
  return { name, ours, best: `/get/${what}`, atLeast: 0.75 };
}

interface Ids {
  readonly deployment: string;
  readonly project: string;
}

async function compareOnce(
  read: Read,
  { slipway, bestPort }: { readonly slipway: RunningSlipway; readonly bestPort: number },
): Promise<Measured> {
  return inRounds(ROUNDS, {
    ours: () => load(slipway.port, read.ours, slipway.token),
    other: () => load(bestPort, read.best, slipway.token),
  });
}

function load(port: number, path: string, token: string, ms = LOAD_MS): Promise<number> {
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  return httpLoad({ port, request, connections: CONNECTIONS, ms });
}

/** Creates what is read, through the API and the stores. */
async function fill(slipway: RunningSlipway, sql: postgres.Sql): Promise<Ids> {
  const settings = { framework: "bun", startCommand: "bun run start", port: 3000 };
  const projects = [];
  for (let index = 0; index < PROJECTS; index++)
    projects.push(await slipway.create("/api/projects", { name: `Project ${index}`, ...settings }));
  for (let index = 0; index < DESTINATIONS; index++) {
    const s3 = {
      kind: "s3_compatible",
      endpoint: "https://s3.example.com",
      bucket: `backups-${index}`,
      region: "eu-1",
    };
    await slipway.create("/api/backup-destinations", {
      name: `Destination ${index}`,
      ...s3,
      accessKeyId: "key",
      secretAccessKey: "secret",
    });
  }
  const { id: projectId, organizationId } = projects[0]!;
  await using world = await postgresWorld({
    url: slipway.url,
    vault: await CryptoVault.load({ folder: slipway.folder }),
  });
  const at = new Date();
  const times = { createdAt: at, queuedAt: at, startedAt: at, builtAt: at, finishedAt: at };
  const urls = ["http://project.localhost:4480"];
  const { id } = await aDeployment(world, { organizationId, projectId, ...times, status: "ready", urls });
  await sql`
    create table best_answers (kind text, id text, at timestamptz, answer text, primary key (kind, id))`;
  await sql`create index on best_answers (kind, at desc, id desc)`;
  await sql`create table best_totals (kind text primary key, total bigint)`;
  return { deployment: id, project: projects.at(-1)!.id };
}

/** Copies a deployment and an entry of the audit log until there are so many. */
async function grow(sql: postgres.Sql, size: number): Promise<void> {
  await sql`
    insert into deployments (id, organization_id, project_id, version, status, held, cancel_requested, attempts,
      created_at, queued_at, last_seq, record)
    select left(model.id, 20) || lpad(number::text, 10, '0'), model.organization_id, projects.id, 1000 + number,
      model.status, false, false, 1, model.created_at - number * interval '1 s', model.queued_at, 0, model.record
    from (select * from deployments order by created_at desc limit 1) as model,
      generate_series((select count(*) from deployments), ${size - 1}::bigint) as number
      join (select id, row_number() over (order by id) as place from projects) as projects
        on projects.place = 1 + number % ${PROJECTS}::integer`;
  await sql`
    insert into audit_log (id, organization_id, user_id, credential_kind, credential_id, action, target, changed, at,
      caller_address, request_id, outcome)
    select left(model.id, 20) || lpad(number::text, 10, '0'), organization_id, user_id, credential_kind, credential_id,
      action, target, changed, at - number * interval '1 s', caller_address, request_id, outcome
    from (select * from audit_log order by at desc limit 1) as model,
      generate_series((select count(*) from audit_log), ${size - 1}::bigint) as number`;
  await sql`vacuum analyze deployments, audit_log`;
}

/** Stores the answers of Slipway for the best reader: those of the lists, and as many rows as there are. */
async function copyAnswers({ port, token }: RunningSlipway, sql: postgres.Sql, ids: Ids): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const fetched = async (path: string) =>
    (await (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).json()) as { data: unknown; total: number };
  const lists = {
    deployments: "/api/deployments?perPage=50",
    projects: "/api/projects?perPage=50",
    destinations: "/api/backup-destinations",
    audit: "/api/audit?perPage=50",
  };
  for (const [kind, path] of Object.entries(lists)) {
    const { data, total } = await fetched(path);
    const items = data as { id: string }[];
    await sql`insert into best_totals values (${kind}, ${total})`;
    const answers = items.map((item) => JSON.stringify(item));
    await sql`
      insert into best_answers (kind, id, at, answer)
      select ${kind}, id, now() - place * interval '1 s', answer
      from unnest(${items.map(({ id }) => id)}::text[], ${answers}::text[]) with ordinality as page (id, answer, place)`;
    await sql`
      insert into best_answers (kind, id, at, answer)
      select ${kind}, 'more_' || number, now() - number * interval '1 s', ${answers[0]!}
      from generate_series(${items.length + 1}::bigint, ${total}::bigint) as number`;
  }
  for (const [kind, id, path] of [
    ["deployments", ids.deployment, `/api/deployments/${ids.deployment}`],
    ["projects", ids.project, `/api/projects/${ids.project}`],
  ] as const) {
    const { data } = await fetched(path);
    await sql`
      insert into best_answers (kind, id, at, answer) values (${kind}, ${id}, now() - interval '1 year', ${JSON.stringify(data)})
      on conflict (kind, id) do nothing`;
  }
  await sql`vacuum analyze best_answers`;
}
