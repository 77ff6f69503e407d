import postgres from "postgres";
import { buildLines, deploymentStore, inBatches } from "./deployment_store.ts";
import type { Result } from "./run.ts";
import { inRounds } from "./rounds.ts";

const LINES = 25_000;
const BATCH = 2_000;
const ROUNDS = 5;

type Lines = ReturnType<typeof buildLines>;

/**
 * Log lines per second, durable and numbered, into the log of a deployment, compared with inserting the same batches
 * into a plain table.
 */
export async function logIngest(): Promise<Result> {
  await using store = await deploymentStore();
  const bare = await bareTable(store.url);
  const append = async (lines: Lines) => {
    const id = await store.deployment();
    return perSecond(lines, (batch) => store.events.append(id, batch));
  };
  const few = buildLines(LINES);
  const { ratio, ours, other, spread } = await inRounds(ROUNDS, {
    ours: () => append(few),
    other: () => bare.insert(few),
  });
  const many = buildLines(10 * LINES);
  const grown = { slipway: await append(many), bare: await bare.insert(many) };
  await bare.end();
  return {
    ratio,
    details:
      `slipway ${Math.round(ours)} lines/s, bare ${Math.round(other)} lines/s, batches of ${BATCH}, ${spread}, at least 0.5; ` +
      `10 × the lines: ${(grown.slipway / grown.bare).toFixed(2)} (${Math.round(grown.slipway)} lines/s)`,
  };
}

async function perSecond(lines: Lines, write: (batch: Lines) => Promise<unknown>): Promise<number> {
  const batches = inBatches(lines, BATCH);
  const started = performance.now();
  for (const batch of batches) await write(batch);
  return lines.length / ((performance.now() - started) / 1_000);
}

/** One row per line, inserted in the fastest way for rows: one array per column. */
async function bareTable(url: string) {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql`
    create table bare_lines (log text, seq bigint, at timestamptz, level text, step text, stream text, message text,
      primary key (log, seq))`;
  return {
    insert(lines: Lines): Promise<number> {
      const log = crypto.randomUUID();
      let seq = 0;
      return perSecond(lines, (batch) => {
        const numbers = batch.map(() => ++seq);
        return sql`
          insert into bare_lines (log, seq, at, level, step, stream, message)
          select ${log}, * from unnest(${numbers}::bigint[], ${batch.map(({ at }) => at.toISOString())}::text[]::timestamptz[],
            ${batch.map(({ level }) => level)}::text[], ${batch.map(({ step }) => step)}::text[],
            ${batch.map(({ stream }) => stream)}::text[], ${batch.map(({ message }) => message)}::text[])`;
      });
    },
    end: () => sql.end(),
  };
}
