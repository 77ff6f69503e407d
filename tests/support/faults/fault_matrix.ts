import { expect, test } from "bun:test";
import type { TestProject } from "../apps/deploying.ts";
import { inTurns } from "./in_turns.ts";
import type { SlipwayProcess } from "../servers/slipway_process.ts";
import type { TcpGate } from "./tcp_gate.ts";
import { Visitor } from "../servers/visitor.ts";

/** A server behind a proxy that can watch and cut its database connections. */
export interface FaultyServer extends AsyncDisposable {
  readonly slipway: SlipwayProcess;
  readonly gate: TcpGate;
}

/** A moment at which a fault is injected. */
export interface Strike {
  readonly step: string;
  /** The text that the server writes into the database, together with the deployment's id, when the step starts. */
  readonly sign: string;
  /** The delay after that. */
  readonly afterMs: number;
  /** The delay before the cancellation, if it differs from `afterMs`. */
  readonly cancelAfterMs?: number;
}

/** Work on a deployment that has not started yet. */
export interface HeldWork {
  /** The id of the deployment. */
  readonly id: string;
  /** Starts the work, without waiting for its end. */
  begin(): Promise<unknown>;
  /** Whether the work has succeeded. */
  isDone(): Promise<boolean>;
  /** Resolves when the work has succeeded; otherwise rejects with the reason. */
  done(): Promise<unknown>;
  /** Throws unless exactly the expected processes and files are left, after the work was done or undone. */
  expectClean(outcome: "done" | "undone"): Promise<void>;
}

/** A project that serves versions (`v1`, `v2`, …), with an endless supply of further work. */
export interface StruckProject {
  readonly project: TestProject;
  /** Prepares the next work on it. */
  next(): Promise<HeldWork>;
  /** Throws unless the next deployment succeeds. */
  expectNext(): Promise<void>;
}

/** What the faults are injected into. */
export interface FaultScene<Server extends FaultyServer> {
  /** The prefix of its project names. */
  readonly name: string;
  readonly strikes: readonly Strike[];
  /** How many tests run concurrently. */
  readonly atOnce: number;
  /** Whether the work can be cancelled. */
  readonly cancellable: boolean;
  /** Whether database outages are injected, too. Defaults to true. */
  readonly databaseAway?: boolean;
  /** Starts a separate server. */
  server(): Promise<Server>;
  prepared(server: Server, name: string): Promise<StruckProject>;
}

const AWAY_MS = 5_000;
const RESUMED_MS = 180_000;
const BEGUN_MS = 180_000;

/**
 * Injects faults into every step: a killed server, a database outage, a cancellation. Visitors see no failure, and
 * every deployment ends.
 */
export function faultMatrix<Server extends FaultyServer>(scene: FaultScene<Server>): void {
  const inTurn = inTurns(scene.atOnce);
  const { cancellable, databaseAway: losesDatabase = true, name, strikes } = scene;
  const blows = losesDatabase ? [serverKilled, databaseAway] : [serverKilled];
  const what = `killed with its server${losesDatabase ? ", then without the database" : ""}${cancellable ? ", then cancelled" : ""}`;
  for (const strike of strikes) {
    test.concurrent(
      `in "${strike.step}": ${what}, every deployment ends`,
      inTurn(async () => {
        await using server = await scene.server();
        // A unique name, because `expectClean` searches all processes of the machine for it.
        const own = crypto.randomUUID().slice(0, 8);
        const struck = await scene.prepared(server, `${name}-${strike.step}-${own}`);
        for (const blow of blows) await survives(server, struck, strike, blow);
        if (cancellable) await isCancelled(server, struck, strike);
        await struck.expectNext();
      }),
    );
  }
}

type Blow = (server: FaultyServer, project: TestProject, work: HeldWork, visitor: Visitor) => Promise<void>;

const databaseAway: Blow = async ({ gate }) => {
  await gate.shut();
  await Bun.sleep(AWAY_MS);
  await gate.open();
};

const serverKilled: Blow = async ({ slipway }, project, work, visitor) => {
  visitor.pause();
  await slipway.kill();
  await slipway.start();
  visitor.goOn();
  const lastSeq = async () => (await project.call("GET", `/api/deployments/${work.id}/build`)).body.data.lastSeq;
  const before = await lastSeq();
  const since = Date.now();
  while ((await lastSeq()) === before && !(await work.isDone())) {
    if (Date.now() - since > RESUMED_MS) throw new Error(await project.log(work.id));
    await Bun.sleep(50);
  }
};

async function survives(server: FaultyServer, { next, project }: StruckProject, strike: Strike, blow: Blow) {
  const work = await next();
  const visitor = new Visitor(server.slipway, project.hostname);
  await begun(server, work, strike);
  await blow(server, project, work, visitor);
  await work.done();
  await visitor.stop();
  expect(visitor.failures).toEqual([]);
  expect(visitor.wentBack).toEqual([]);
  await work.expectClean("done");
}

/**
 * Expects that the deployment is cancelled, or live if it was too late: on a busy machine, a step may be over before the
 * cancellation arrives.
 */
async function isCancelled(server: FaultyServer, { next, project }: StruckProject, strike: Strike) {
  const { step, afterMs, cancelAfterMs = afterMs } = strike;
  const work = await next();
  const visitor = new Visitor(server.slipway, project.hostname);
  await begun(server, work, { ...strike, afterMs: cancelAfterMs });
  const answers: number[] = [];
  const cancel = async () => (await project.call("POST", `/api/deployments/${work.id}/cancel`)).status;
  // A server that is too busy asks to try again.
  do answers.push(await cancel());
  while (answers.at(-1) === 503);
  const { status } = await project.settled(work.id);
  await visitor.stop();
  expect(visitor.failures).toEqual([]);
  expect(["cancelled", "ready"]).toContain(status);
  // After a 503, the deployment may have ended meanwhile.
  if (answers.length === 1) expect([step, ...answers]).toEqual([step, status === "ready" ? 400 : 200]);
  await work.expectClean(status === "ready" ? "done" : "undone");
}

/** Starts the work and resolves at the moment of the strike. */
async function begun({ gate }: FaultyServer, work: HeldWork, { sign, afterMs }: Strike): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const before = gate.watch;
  gate.watch = (bytes, client) => {
    before?.(bytes, client);
    if (bytes.includes(sign) && bytes.includes(work.id)) resolve();
  };
  await work.begin();
  const never = setTimeout(() => reject(new Error(`${work.id} never reached ${sign}`)), BEGUN_MS);
  await promise.finally(() => clearTimeout(never));
  await Bun.sleep(afterMs);
}
