import postgres from "postgres";
import type { DeploymentEvent } from "../domain/deployments/deployment_event.ts";
import { buildLines, deploymentStore, inBatches } from "./deployment_store.ts";
import type { Result } from "./run.ts";
import { inRounds } from "./rounds.ts";
import { median } from "./temp_folder.ts";

const EVENTS = 20_000;
const BATCH = 500;
const VIEWERS = 500;
const ROUNDS = 5;

type Batch = readonly DeploymentEvent[];

/**
 * Events per second that reach 500 clients of a deployment's log, compared with the best way: one plain statement reads
 * the same chunks, each is parsed once, and a loop yields them to every client.
 */
export async function streamFanout(): Promise<Result> {
  await using store = await deploymentStore();
  const sql = postgres(store.url, { max: 1, onnotice: () => {} });
  await using _ = { [Symbol.asyncDispose]: () => sql.end() };
  const stored = await store.deployment();
  for (const batch of batchesOfLines()) await store.events.append(stored, batch);
  const bareLoop = (viewers: number) => {
    const batches = readAll(sql, stored);
    return perSecond(viewers, () => handOut(batches));
  };
  const replay = async (viewers: number) => {
    const id = await store.deployment();
    for (const batch of batchesOfLines()) await store.events.append(id, batch);
    return perSecond(viewers, () => store.events.follow(id, { since: 0, signal: new AbortController().signal }));
  };
  const live = async (viewers: number) => {
    const id = await store.deployment();
    const rate = perSecond(viewers, () => store.events.follow(id, { since: 0, signal: new AbortController().signal }));
    for (const batch of batchesOfLines()) await store.events.append(id, batch);
    return rate;
  };
  await replay(VIEWERS);
  await bareLoop(VIEWERS);
  const rates: { slipway: number; bare: number; live: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rates.push({ slipway: await replay(VIEWERS), bare: await bareLoop(VIEWERS), live: await live(VIEWERS) });
  }
  const few = await inRounds(ROUNDS, { ours: () => replay(VIEWERS / 10), other: () => bareLoop(VIEWERS / 10) });
  const per = (pick: (rate: (typeof rates)[number]) => number) => Math.round(median(rates.map(pick)));
  return {
    ratio: median(rates.map((rate) => rate.slipway / rate.bare)),
    details:
      `slipway ${per((rate) => rate.slipway)} events/s, bare ${per((rate) => rate.bare)} events/s, ${VIEWERS} viewers of ${EVENTS} events, ` +
      `at least 0.5; while they are written ${per((rate) => rate.live)} events/s; ` +
      `a tenth of the viewers: ${few.ratio.toFixed(2)} (${Math.round(few.ours)} events/s, ${few.spread}), at least 0.6`,
  };
}

function batchesOfLines() {
  return inBatches(buildLines(EVENTS), BATCH);
}

async function perSecond(viewers: number, follow: () => AsyncIterable<Batch>): Promise<number> {
  const started = performance.now();
  const seen = await Promise.all(Array.from({ length: viewers }, () => watch(follow())));
  if (seen.some((count) => count !== EVENTS)) throw new Error("a viewer missed events");
  return (viewers * EVENTS) / ((performance.now() - started) / 1_000);
}

/** Reads every event and returns their number once all have arrived. */
async function watch(batches: AsyncIterable<Batch>): Promise<number> {
  let seen = 0;
  for await (const batch of batches) {
    for (const event of batch) if (event.seq === seen + 1 && event.type === "log") seen++;
    if (seen >= EVENTS) break;
  }
  return seen;
}

/** Reads the events of a deployment with one statement. */
async function readAll(sql: postgres.Sql, id: string): Promise<readonly Batch[]> {
  const rows = await sql<{ events: string; first_seq: string }[]>`
    select events, first_seq from deployment_events where deployment_id = ${id} order by seq`;
  return rows.map(({ events, first_seq }) =>
    (JSON.parse(events) as DeploymentEvent[]).map((event, index) => ({ ...event, seq: Number(first_seq) + index })),
  );
}

async function* handOut(batches: Promise<readonly Batch[]>): AsyncIterable<Batch> {
  for (const batch of await batches) yield batch;
}
