import type { Result } from "./run.ts";
import { runningSlipway } from "./running_slipway.ts";
import { type Comparison, CONNECTIONS, throughput } from "./throughput.ts";

const PROJECTS = 1_000;
const ROUNDS = 7;

/** Lists a page of 50 of 1,000 projects, authenticated. */
export function apiList(): Promise<Result> {
  return compare(() => ({ ours: "/api/projects?perPage=50", bare: "/list", requests: 1_500, rounds: ROUNDS }));
}

/** Reads one project, authenticated. */
export function apiGet(): Promise<Result> {
  return compare((id) => ({ ours: `/api/projects/${id}`, bare: "/get", requests: 6_000, rounds: ROUNDS }));
}

async function compare(comparison: (projectId: string) => Comparison): Promise<Result> {
  await using slipway = await runningSlipway();
  const settings = { framework: "bun", startCommand: "bun run start", port: 3000 };
  let last = { id: "", organizationId: "" };
  for (let index = 0; index < PROJECTS; index++)
    last = await slipway.project({ name: `Project ${index}`, ...settings });
  const rate = await throughput(slipway, { script: "bench/bare_projects.ts", ...last }, comparison(last.id));
  return {
    ratio: rate.ratio,
    details: `slipway ${rate.slipway}/s, bare ${rate.bare}/s, ${CONNECTIONS} connections, at least 0.7`,
  };
}
