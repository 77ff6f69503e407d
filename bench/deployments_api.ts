import postgres from "postgres";
import { CryptoVault } from "../adapters/crypto/vault.ts";
import { postgresWorld } from "../adapters/postgres/postgres_world.ts";
import { aDeployment } from "../tests/support/database/store_builders.ts";
import type { Result } from "./run.ts";
import { type RunningSlipway, runningSlipway } from "./running_slipway.ts";
import { type Comparison, CONNECTIONS, throughput } from "./throughput.ts";

const PROJECTS = 20;
const DEPLOYMENTS = 1_000;

type Request = Omit<Comparison, "rounds">;
type Projects = readonly { readonly id: string; readonly organizationId: string }[];

/** Lists a page of 50 of 1,000 deployments, authenticated; also of ten times as many. */
export function deploymentsList(): Promise<Result> {
  return compare(() => ({ ours: "/api/deployments?perPage=50", bare: "/list", requests: 600 }));
}

/** Reads one of 1,000 deployments, authenticated; also of ten times as many. */
export function deploymentGet(): Promise<Result> {
  return compare((id) => ({ ours: `/api/deployments/${id}`, bare: "/get", requests: 3_000 }));
}

async function compare(request: (deploymentId: string) => Request): Promise<Result> {
  await using slipway = await runningSlipway();
  const names = Array.from({ length: PROJECTS }, (_, index) => `Project ${index}`);
  const projects = await Promise.all(names.map((name) => slipway.project({ name })));
  const measure = async (added: number, rounds: number) => {
    const id = await fill(slipway, projects, added);
    const bareServer = { script: "bench/bare_deployments.ts", organizationId: projects[0]!.organizationId, id };
    return throughput(slipway, bareServer, { ...request(id), rounds });
  };
  const few = await measure(DEPLOYMENTS, 5);
  const many = await measure(DEPLOYMENTS * 9, 3);
  return {
    ratio: few.ratio,
    details:
      `slipway ${few.slipway}/s, bare ${few.bare}/s, ${CONNECTIONS} connections, at least 0.7; ` +
      `${DEPLOYMENTS * 10} rows: ${many.ratio.toFixed(2)}, slipway ${many.slipway}/s, bare ${many.bare}/s`,
  };
}

/** Adds finished deployments directly to the database, all copies of one, and returns the id of that one. */
async function fill({ url, folder }: RunningSlipway, projects: Projects, added: number): Promise<string> {
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
