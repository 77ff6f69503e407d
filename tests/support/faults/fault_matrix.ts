import { expect, test } from "bun:test";
import type { TestProject } from "../apps/deploying.ts";
import { inTurns } from "./in_turns.ts";
import type { SlipwayProcess } from "../servers/slipway_process.ts";
import type { TcpGate } from "./tcp_gate.ts";
import { Visitor } from "../servers/visitor.ts";

/** A server whose way to the database can be watched and cut. */
export interface FaultyServer extends AsyncDisposable {
  readonly slipway: SlipwayProcess;
  readonly gate: TcpGate;
}

/** A moment at which work is struck. */
export interface Strike {
  readonly step: string;
  /** What the server writes into the database when the step begins, together with the id of the deployment. */
  readonly sign: string;
  /** How long after that. */
  readonly afterMs: number;
  /** How long after that it is cancelled, where that is another time. */
  readonly cancelAfterMs?: number;
  /** Whether it may be too late to cancel it. */
  readonly late?: boolean;
}

/** Work on a deployment that waits to be begun. */
export interface HeldWork {
  /** The deployment. */
  readonly id: string;
  /** Lets it begin; does not wait for its end. */
  begin(): Promise<unknown>;
  /** Whether it has come to a good end. */
  isDone(): Promise<boolean>;
  /** Resolves at its good end; rejects with the reason when it comes to another. */
  done(): Promise<unknown>;
  /** Fails unless exactly that is there, running or on a disk, that is to be there after it was done or undone. */
  expectClean(outcome: "done" | "undone"): Promise<void>;
}

/** A project that serves versions (`v1`, `v2`, …), on which there is always more work to do. */
export interface StruckProject {
  readonly project: TestProject;
  /** The next work on it. */
  next(): Promise<HeldWork>;
  /** Fails unless whatever comes next works. */
  expectNext(): Promise<void>;
}

/** What is struck. */
export interface FaultScene<Server extends FaultyServer> {
  /** Begins the names of its projects. */
  readonly name: string;
  readonly strikes: readonly Strike[];
  /** How many tests run at once. */
  readonly atOnce: number;
  /** Whether the work can be cancelled. */
  readonly cancellable: boolean;
  /** Whether the database is taken away, too; by default it is. */
  readonly databaseAway?: boolean;
  /** Starts a server of its own. */
  server(): Promise<Server>;
  prepared(server: Server, name: string): Promise<StruckProject>;
}

const AWAY_MS = 5_000;
const RESUMED_MS = 15_000;
const BEGUN_MS = 180_000;

/** Strikes work in every step: its server is killed, the database is away, it is cancelled. No visitor notices, and it comes to its end. */
export function faultMatrix<Server extends FaultyServer>(scene: FaultScene<Server>): void {
  const inTurn = inTurns(scene.atOnce);
  const { cancellable, databaseAway: losesDatabase = true, name, strikes } = scene;
  const blows = losesDatabase ? [serverKilled, databaseAway] : [serverKilled];
  const what = `killed with its server${losesDatabase ? ", then without the database" : ""}${cancellable ? ", then cancelled" : ""}`;
  for (const strike of strikes) {
    test.concurrent(
      `in "${strike.step}": ${what}, each comes to its end`,
      inTurn(async () => {
        await using server = await scene.server();
        // What it runs is looked for among all processes of the machine.
        const own = crypto.randomUUID().slice(0, 8);
        const struck = await scene.prepared(server, `${name}-${strike.step}-${own}`);
        for (const blow of blows) await goesOn(server, struck, strike, blow);
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

async function goesOn(server: FaultyServer, { next, project }: StruckProject, strike: Strike, blow: Blow) {
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

/** It is cancelled, or it was too late and it is live. */
async function isCancelled(server: FaultyServer, { next, project }: StruckProject, strike: Strike) {
  const { step, late, afterMs, cancelAfterMs = afterMs } = strike;
  const work = await next();
  const visitor = new Visitor(server.slipway, project.hostname);
  await begun(server, work, { ...strike, afterMs: cancelAfterMs });
  const answer = await project.call("POST", `/api/deployments/${work.id}/cancel`);
  const { status } = await project.settled(work.id);
  await visitor.stop();
  expect(visitor.failures).toEqual([]);
  if (late && status === "ready") expect(answer.status).toBe(400);
  else expect({ step, status, answer: answer.status }).toEqual({ step, status: "cancelled", answer: 200 });
  await work.expectClean(status === "ready" ? "done" : "undone");
}

/** Lets work begin and resolves at the moment of the strike. */
async function begun({ gate }: FaultyServer, work: HeldWork, { sign, afterMs }: Strike): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const before = gate.watch;
  gate.watch = (bytes) => {
    before?.(bytes);
    if (bytes.includes(sign) && bytes.includes(work.id)) resolve();
  };
  await work.begin();
  const never = setTimeout(() => reject(new Error(`${work.id} never came to ${sign}`)), BEGUN_MS);
  await promise.finally(() => clearTimeout(never));
  await Bun.sleep(afterMs);
}
