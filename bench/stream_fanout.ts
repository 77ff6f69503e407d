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
 * Events per second that reach 500 clients of a deployment's log, compared with a loop that yields the same events from
 * memory.
 */
export async function streamFanout(): Promise<Result> {
  await using store = await deploymentStore();
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

function bareLoop(viewers: number): Promise<number> {
  const batches = inBatches(
    buildLines(EVENTS).map((event, index) => ({ ...event, seq: index + 1 })),
    BATCH,
  );
  return perSecond(viewers, () => handOut(batches));
}

async function* handOut(batches: readonly Batch[]): AsyncIterable<Batch> {
  for (const batch of batches) yield batch;
}
