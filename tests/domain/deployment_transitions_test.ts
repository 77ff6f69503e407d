import { describe, expect, test } from "bun:test";
import { array, assert, constantFrom, property } from "fast-check";
import { type Deployment, DEPLOYMENT_STATUSES } from "../../domain/deployments/deployment.ts";
import {
  transition,
  type DeploymentTransition,
  isRunning,
  isSettled,
  occupies,
  workDurationMs,
} from "../../domain/deployments/transitions.ts";
import { Failure } from "../../domain/failure.ts";
import { deploymentOf, minutes } from "../support/database/store_builders.ts";

const TRANSITIONS = [
  "taken",
  "built",
  "healthy",
  "partly_healthy",
  "failed",
  "cancelled",
  "kept",
  "rejected",
  "superseded",
] as const satisfies readonly DeploymentTransition[];

/** The resulting status of every transition from every status; a dash means that it is impossible. */
const TABLE = `
                 taken     built      healthy  partly_healthy   failed  cancelled  kept   rejected  superseded
queued           building  -          -        -                failed  cancelled  -      -         superseded
building         -         deploying  -        -                failed  cancelled  -      -         -
deploying        -         -          ready    partial_failure  failed  cancelled  -      -         -
ready            -         -          -        -                -       -          -      -         -
failed           -         -          -        -                -       -          -      -         -
cancelled        -         -          -        -                -       -          -      -         -
partial_failure  -         -          -        -                -       -          ready  rejected  -
rejected         -         -          -        -                -       -          -      -         -
superseded       -         -          -        -                -       -          -      -         -
`;

const ROWS = TABLE.trim()
  .split("\n")
  .slice(1)
  .flatMap((line) => {
    const [from = "", ...tos] = line.split(/\s+/);
    return TRANSITIONS.map((what, index) => ({ from: from as Deployment["status"], what, to: tos[index]! }));
  });

const OWNER = { organizationId: "org_x", projectId: "prj_x" };
const PROMPT = {
  promptId: "p",
  title: "Approve",
  message: "Build it?",
  actions: [],
  expiresAt: minutes(60),
  answer: null,
};

function deploymentIn(status: Deployment["status"], overrides: Partial<Deployment> = {}): Deployment {
  return deploymentOf({ ...OWNER, status, ...overrides });
}

test("the table has every status and every transition", () => {
  expect([...new Set(ROWS.map(({ from }) => from))].toSorted()).toEqual([...DEPLOYMENT_STATUSES].toSorted());
  expect(ROWS).toHaveLength(DEPLOYMENT_STATUSES.length * TRANSITIONS.length);
});

describe("transition()", () => {
  test.each(ROWS.filter(({ to }) => to !== "-"))("changes $from by $what to $to", ({ from, what, to }) => {
    const next = transition(deploymentIn(from), what, { at: minutes(5) });
    expect(next.status).toBe(to as Deployment["status"]);
  });

  test.each(ROWS.filter(({ to }) => to === "-"))("refuses $from: $what", ({ from, what }) => {
    expect(() => transition(deploymentIn(from), what, { at: minutes(5) })).toThrow(`its status is "${from}"`);
    try {
      transition(deploymentIn(from), what, { at: minutes(5) });
    } catch (error) {
      expect(error).toBeInstanceOf(Failure);
      expect((error as Failure).code).toBe("deployment_not_movable");
    }
  });

  test("sets the decision of a partial failure, and no other transition sets one", () => {
    for (const { from, what, to } of ROWS.filter((row) => row.to !== "-")) {
      const expected = { partly_healthy: "pending", kept: "kept", rejected: "rejected" }[what as string] ?? null;
      expect([from, what, to, transition(deploymentIn(from), what, { at: minutes(5) }).decision]).toEqual([
        from,
        what,
        to,
        expected as Deployment["decision"],
      ]);
    }
  });

  test("records when it started, was built and finished", () => {
    const taken = transition(deploymentIn("queued"), "taken", { at: minutes(1) });
    const built = transition(taken, "built", { at: minutes(2) });
    const ready = transition(built, "healthy", { at: minutes(3) });
    expect([taken.startedAt, taken.builtAt, taken.finishedAt]).toEqual([minutes(1), null, null]);
    expect([built.startedAt, built.builtAt, built.finishedAt]).toEqual([minutes(1), minutes(2), null]);
    expect([ready.startedAt, ready.builtAt, ready.finishedAt]).toEqual([minutes(1), minutes(2), minutes(3)]);
    expect(transition(deploymentIn("queued"), "cancelled", { at: minutes(4) }).finishedAt).toEqual(minutes(4));
  });

  test("does not count the wait for a decision as work", () => {
    const started = deploymentIn("deploying", { startedAt: minutes(1) });
    const held = transition(started, "partly_healthy", { at: minutes(3) });
    expect(workDurationMs(held)).toBe(120_000);
    for (const what of ["kept", "rejected"] as const) {
      const decided = transition(held, what, { at: minutes(500) });
      expect([decided.finishedAt, workDurationMs(decided)]).toEqual([minutes(500), 120_000]);
    }
    expect(workDurationMs(transition(started, "healthy", { at: minutes(4) }))).toBe(180_000);
    expect([workDurationMs(started), workDurationMs(deploymentIn("queued"))]).toEqual([null, null]);
  });

  test("keeps an open prompt until the build is over, then clears it", () => {
    const asking = deploymentIn("building", { prompt: PROMPT });
    expect(transition(asking, "built", { at: minutes(1) }).prompt).toBeNull();
    expect(transition(asking, "cancelled", { at: minutes(1) }).prompt).toBeNull();
    expect(transition(deploymentIn("queued", { prompt: PROMPT }), "taken", { at: minutes(1) }).prompt).toEqual(PROMPT);
  });

  test("keeps the error that ended it, and clears waitingFor", () => {
    const error = { code: "build_failed", message: "Cannot finish the build", step: "build" as const };
    const failed = transition(deploymentIn("building", { waitingFor: "dep_other" }), "failed", {
      at: minutes(1),
      error,
    });
    expect([failed.error, failed.waitingFor]).toEqual([error, null]);
  });
});

test("a deployment that has ended never changes again", () => {
  const ENDED = ["ready", "failed", "cancelled", "rejected", "superseded"];
  assert(
    property(array(constantFrom(...TRANSITIONS), { maxLength: 12 }), (whats) => {
      let deployment = deploymentIn("queued");
      for (const what of whats) {
        const before = deployment;
        try {
          deployment = transition(deployment, what, { at: minutes(1) });
        } catch (error) {
          expect(error).toMatchObject({ code: "deployment_not_movable" });
        }
        if (ENDED.includes(before.status)) expect(deployment).toBe(before);
      }
    }),
    { seed: 7, numRuns: 500 },
  );
});

test("occupies() is true for running deployments and for a pending decision", () => {
  expect(DEPLOYMENT_STATUSES.filter((status) => occupies({ status }))).toEqual([
    "building",
    "deploying",
    "partial_failure",
  ]);
});

test("isRunning() and isSettled() are opposites; a pending decision is settled", () => {
  const running = DEPLOYMENT_STATUSES.filter((status) => isRunning({ status }));
  expect(running).toEqual(["queued", "building", "deploying"]);
  expect(DEPLOYMENT_STATUSES.filter((status) => isSettled({ status }))).toEqual(
    DEPLOYMENT_STATUSES.filter((status) => !running.includes(status)),
  );
});
