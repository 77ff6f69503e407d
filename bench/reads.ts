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
const LOAD_MS = 125;
const WARM_MS = 300;

/** What a benchmark reads: from Slipway, and the same from the best reader. */
interface Read {
  readonly name: string;
  readonly ours: (ids: Ids) => string;
  readonly best: (ids: Ids) => string;
  readonly atLeast: number;
  /** Whether it is measured again with more history. */
  readonly grows: boolean;
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
  const of = { slipway, bestPort, ids };
  for (const read of ALL) {
    // Until hot code is compiled.
    await load(slipway.port, read.ours(ids), slipway.token, WARM_MS);
    await load(bestPort, read.best(ids), slipway.token, WARM_MS);
  }
  const growing = ALL.filter(({ grows }) => grows);
  for (const read of ALL.filter(({ grows }) => !grows)) yield lineOf(read, await compareOnce(read, of));
  const first = new Map<Read, Measured>();
  for (const read of growing) first.set(read, await compareOnce(read, of));
  const growth = new Map<Read, string[]>(growing.map((read) => [read, []]));
  for (const size of SIZES.slice(1)) {
    await grow(sql, size);
    for (const read of growing) {
      // Both ratios are to the best reader at the time, so that what else the machine does cancels out.
      const { ratio } = await compareOnce(read, of);
      const text = `${size.toLocaleString("en")} rows: ${(ratio / first.get(read)!.ratio).toFixed(2)} of itself`;
      growth.get(read)!.push(text);
      if (size === SIZES.at(-1)) yield lineOf(read, first.get(read)!, growth.get(read));
    }
  }
}

function lineOf({ name, atLeast }: Read, measured: Measured, growth: readonly string[] = []): Line {
  const { ratio, spread, ours, other } = measured;
  const rates = `slipway ${Math.round(ours)}/s, best ${Math.round(other)}/s, ${CONNECTIONS} connections`;
  return { name, ratio, details: [rates, spread, `at least ${atLeast}`, ...growth].join("; ") };
}

const ALL: readonly Read[] = [
  { name: "health", ours: () => "/api/health", best: () => "/health", atLeast: 0.6, grows: false },
  list("deployments-list", { ours: "/api/deployments?perPage=50", best: "deployments", grows: true }),
  get("deployment-get", { kind: "deployments", id: (ids) => ids.deployment, grows: true }),
  list("api-list", { ours: "/api/projects?perPage=50", best: "projects", grows: false }),
  get("api-get", { kind: "projects", id: (ids) => ids.project, grows: false }),
  list("destinations-list", { ours: "/api/backup-destinations", best: "destinations", grows: false }),
  list("audit-list", { ours: "/api/audit?perPage=50", best: "audit", grows: true }),
];

/** The names of these benchmarks. */
export const READS: readonly string[] = ALL.map(({ name }) => name);

function list(name: string, { ours, best, grows }: { ours: string; best: string; grows: boolean }): Read {
  return { name, ours: () => ours, best: () => `/list/${best}`, atLeast: 0.6, grows };
}

function get(name: string, { kind, id, grows }: { kind: string; id: (ids: Ids) => string; grows: boolean }): Read {
  return {
    name,
    ours: (ids) => `/api/${kind}/${id(ids)}`,
    best: (ids) => `/get/${kind}/${id(ids)}`,
    atLeast: 0.75,
    grows,
  };
}

interface Ids {
  readonly deployment: string;
  readonly project: string;
}

async function compareOnce(
  read: Read,
  { slipway, bestPort, ids }: { readonly slipway: RunningSlipway; readonly bestPort: number; readonly ids: Ids },
): Promise<Measured> {
  return inRounds(ROUNDS, {
    ours: () => load(slipway.port, read.ours(ids), slipway.token),
    other: () => load(bestPort, read.best(ids), slipway.token),
  });
}

function load(port: number, path: string, token: string, ms = LOAD_MS): Promise<number> {
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  return httpLoad({ port, request, connections: CONNECTIONS, ms });
}

/** Creates what is read, through the API and the stores. */
async function fill(slipway: RunningSlipway, sql: postgres.Sql): Promise<Ids> {
  const settings = { framework: "bun", startCommand: "bun run start", port: 3000 };
  const { id: projectId, organizationId } = await slipway.create("/api/projects", { name: "Project", ...settings });
  await copyProject(sql);
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
  // Copies must be counted, but it would take a third of their time to check that what they refer to exists.
  await sql`alter table deployments enable always trigger deployments_counted`;
  await sql`alter table audit_log enable always trigger audit_counted`;
  await sql`set session_replication_role = replica`;
  return { deployment: id, project: projectId };
}

/** Copies the only project, with its free domain, until there are so many. */
async function copyProject(sql: postgres.Sql): Promise<void> {
  await sql`
    with copies as (
      select left(id, 20) || lpad(number::text, 10, '0') as id, slug || '-' || number as slug, number, projects as model
      from projects, generate_series(1, ${PROJECTS - 1}::integer) as number
    ), made as (
      insert into projects (id, organization_id, name, slug, hostname, settings, location, created_at, updated_at,
        search_text)
      select id, (model).organization_id, (model).name || ' ' || number, slug, slug || '.localhost', (model).settings,
        (model).location, (model).created_at - number * interval '1 s', (model).updated_at, (model).search_text
      from copies
    )
    insert into domains (id, organization_id, project_id, hostname, type, proof, verified_at, created_at)
    select left(domains.id, 20) || lpad(number::text, 10, '0'), organization_id, copies.id, copies.slug || '.localhost',
      type, proof, verified_at, created_at
    from copies join domains on project_id = (model).id`;
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
