import { expect, test } from "bun:test";
import type { TestProject } from "./deploying.ts";
import { inTurns } from "./in_turns.ts";
import type { SlipwayProcess } from "./slipway_process.ts";
import type { TcpGate } from "./tcp_gate.ts";
import { Visitor } from "./visitor.ts";

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
  /** Whether it may be too late to cancel it. */
  readonly late?: boolean;
}

/** Work on a deployment that waits to be begun, on a project that serves versions (`v1`, `v2`, …). */
export interface HeldWork {
  readonly project: TestProject;
  /** The deployment. */
  readonly id: string;
  /** Lets it begin; does not wait for its end. */
  begin(): Promise<unknown>;
  /** Whether it has come to a good end. */
  isDone(): Promise<boolean>;
  /** Resolves at its good end; rejects with the reason when it comes to another. */
  done(): Promise<unknown>;
  /** Fails unless exactly that is there, running or on a disk, that is to be there after it was done or undone, and the next deployment works. */
  expectClean(outcome: "done" | "undone"): Promise<void>;
}

/** What is struck. */
export interface FaultScene<Server extends FaultyServer> {
  /** Begins the names of its projects. */
  readonly name: string;
  readonly strikes: readonly Strike[];
  /** How many tests run at once. */
  readonly atOnce: number;
  /** How many strikes share a server that loses its database. */
  readonly awayTogether: number;
  /** Whether the work can be cancelled. */
  readonly cancellable: boolean;
  /** Starts a server of its own. */
  server(): Promise<Server>;
  prepared(server: Server, name: string): Promise<HeldWork>;
}

const AWAY_MS = 5_000;
const RESUMED_MS = 15_000;

/** Strikes work in every step: it is cancelled, its server is killed, the database is away. No visitor notices, and it comes to its end. */
export function faultMatrix<Server extends FaultyServer>(scene: FaultScene<Server>): void {
  const inTurn = inTurns(scene.atOnce);
  const { name, strikes } = scene;
  // What takes longest begins first.
  if (scene.cancellable) {
    test.concurrent(
      "cancelled in any step, it is cancelled, or it was too late and it is live",
      inTurn(async () => {
        await using server = await scene.server();
        await Promise.all(strikes.map((strike) => cancelled(scene, server, strike)));
      }),
    );
  }
  for (const together of chunks(strikes, scene.awayTogether)) {
    test.concurrent(
      `without the database for five seconds from ${together.map(({ step }) => step).join(", ")} on, it goes on`,
      inTurn(async () => {
        await using server = await scene.server();
        const works = await Promise.all(together.map(({ step }) => scene.prepared(server, `${name}-away-${step}`)));
        for (const [index, strike] of together.entries()) await goesOn(server, works[index]!, strike, databaseAway);
        await Promise.all(works.map((work) => work.expectClean("done")));
      }),
    );
  }
  for (const strike of strikes) {
    test.concurrent(
      `killed with its server in "${strike.step}", it goes on after the restart`,
      inTurn(async () => {
        await using server = await scene.server();
        const work = await scene.prepared(server, `${name}-kill-${strike.step}`);
        await goesOn(server, work, strike, serverKilled);
        await work.expectClean("done");
      }),
    );
  }
}

type Blow = (server: FaultyServer, work: HeldWork, visitor: Visitor) => Promise<void>;

const databaseAway: Blow = async ({ gate }) => {
  await gate.shut();
  await Bun.sleep(AWAY_MS);
  await gate.open();
};

const serverKilled: Blow = async ({ slipway }, work, visitor) => {
  visitor.pause();
  await slipway.kill();
  await slipway.start();
  visitor.goOn();
  const { project, id } = work;
  const lastSeq = async () => (await project.call("GET", `/api/deployments/${id}/build`)).body.data.lastSeq;
  const before = await lastSeq();
  const since = Date.now();
  while ((await lastSeq()) === before && !(await work.isDone())) {
    if (Date.now() - since > RESUMED_MS) throw new Error(await project.log(id));
    await Bun.sleep(50);
  }
};

async function goesOn(server: FaultyServer, work: HeldWork, strike: Strike, blow: Blow): Promise<void> {
  const visitor = new Visitor(server.slipway, work.project.hostname);
  await begun(server, work, strike);
  await blow(server, work, visitor);
  await work.done();
  await visitor.stop();
  expect(visitor.failures).toEqual([]);
  expect(visitor.wentBack).toEqual([]);
}

async function cancelled<Server extends FaultyServer>(scene: FaultScene<Server>, server: Server, strike: Strike) {
  const { step } = strike;
  const work = await scene.prepared(server, `${scene.name}-cancel-${step}`);
  const visitor = new Visitor(server.slipway, work.project.hostname);
  await begun(server, work, strike);
  const answer = await work.project.call("POST", `/api/deployments/${work.id}/cancel`);
  const { status } = await work.project.settled(work.id);
  await visitor.stop();
  expect(visitor.failures).toEqual([]);
  if (strike.late && status === "ready") expect(answer.status).toBe(400);
  else expect({ step, status, answer: answer.status }).toEqual({ step, status: "cancelled", answer: 200 });
  await work.expectClean(status === "ready" ? "done" : "undone");
}

/** Lets work begin and resolves at the moment of the strike. */
async function begun({ gate }: FaultyServer, work: HeldWork, { sign, afterMs }: Strike): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const before = gate.watch;
  gate.watch = (bytes) => {
    before?.(bytes);
    if (bytes.includes(sign) && bytes.includes(work.id)) resolve();
  };
  await work.begin();
  await promise;
  await Bun.sleep(afterMs);
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
