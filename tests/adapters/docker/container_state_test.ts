import { describe, expect, test } from "bun:test";
import type { ContainerRecord, ContainerState } from "../../../adapters/docker/engine/containers.ts";
import {
  instanceOf,
  isCrashLoop,
  isGivenUp,
  isStartDue,
  type ContainerObservation,
} from "../../../adapters/docker/containers/container_state.ts";

const NOW = Date.parse("2026-01-01T12:00:00Z");
const ago = (ms: number) => new Date(NOW - ms).toISOString();
const NEVER = "0001-01-01T00:00:00Z";

function record(
  state: Partial<ContainerState>,
  given: { policy?: string; restarts?: number; oneShot?: boolean; memory?: number } = {},
): ContainerRecord {
  const { policy = "unless-stopped", restarts = 0, oneShot = false, memory: Memory = 0 } = given;
  return {
    Id: "c1",
    Name: "/slipway-0-x",
    Created: ago(60_000),
    Image: "sha256:1",
    RestartCount: restarts,
    State: {
      Status: "running",
      Pid: 1,
      ExitCode: 0,
      OOMKilled: false,
      Error: "",
      StartedAt: ago(1_000),
      FinishedAt: NEVER,
      ...state,
    },
    Config: { Labels: { "slipway.one-shot": `${oneShot}`, "slipway.port": "23000" } },
    HostConfig: { Memory, RestartPolicy: { Name: policy }, PortBindings: { "8080/tcp": [{ HostPort: "23000" }] } },
  };
}

const sight = (given: Partial<ContainerObservation> = {}): ContainerObservation => ({
  now: NOW,
  listens: false,
  beingStarted: false,
  restartsBefore: 0,
  ...given,
});

function waiting(forMs: number, restarts: number): boolean {
  const state = { Status: "restarting", StartedAt: ago(forMs + 5), FinishedAt: ago(forMs) } as const;
  return isCrashLoop(record(state, { restarts }), NOW);
}

function ended(ExitCode: number, OOMKilled = false): Partial<ContainerState> {
  return { Status: "exited", ExitCode, OOMKilled };
}

function stateOf(
  state: Partial<ContainerState>,
  given?: Parameters<typeof record>[1],
  seen: Partial<ContainerObservation> = {},
) {
  const { status, exit } = instanceOf(record(state, given), sight(seen));
  return [status, exit && `${exit.reason} ${exit.code}`];
}

function published(ports: string) {
  const made = record({});
  const Labels = { ...made.Config.Labels, "slipway.port": "", "slipway.ports": ports };
  return instanceOf({ ...made, Config: { Labels } }, sight({ listens: true }));
}

describe("isCrashLoop()", () => {
  test("is true once the restart delay exceeds the one after a fourth exit", () => {
    expect(waiting(1_001, 5)).toBe(true);
    expect(waiting(60_000, 40)).toBe(true);
  });

  test("is false after few exits, or after the first exit of a stable container", () => {
    expect(waiting(800, 5)).toBe(false);
    expect(waiting(200, 40)).toBe(false);
    expect(waiting(5_000, 4)).toBe(false);
    expect(isCrashLoop(record({ Status: "running" }, { restarts: 40 }), NOW)).toBe(false);
  });
});

describe("instanceOf()", () => {
  test("is starting while a server starts it, and exited when that server was killed or hangs", () => {
    const made = { Status: "created", StartedAt: NEVER } as const;
    const soon = NOW - 31_000;
    expect(stateOf(made, {}, { now: soon, beingStarted: true })).toEqual(["starting", null]);
    expect(stateOf(made, {}, { now: soon, beingStarted: false })).toEqual(["exited", "stopped null"]);
    expect(stateOf(made, {}, { beingStarted: true })).toEqual(["exited", "stopped null"]);
  });

  test("is running once it has stayed up", () => {
    expect(stateOf({})).toEqual(["starting", null]);
    expect(stateOf({ StartedAt: ago(11_000) })).toEqual(["running", null]);
    expect(stateOf({ StartedAt: ago(11_000), Status: "paused" })).toEqual(["running", null]);
  });

  test("reports why a container has exited", () => {
    const givenUp = { policy: "no", restarts: 5 };
    expect(stateOf({ ...ended(3), Status: "restarting" })).toEqual(["restarting", "exited 3"]);
    expect(stateOf(ended(143))).toEqual(["exited", "stopped 143"]);
    expect(stateOf({ ...ended(137), Status: "dead" })).toEqual(["exited", "stopped 137"]);
    expect(stateOf(ended(0), { policy: "no", oneShot: true })).toEqual(["exited", "exited 0"]);
    expect(stateOf(ended(3), givenUp)).toEqual(["exited", "exited 3"]);
    expect(stateOf(ended(137, true), givenUp)).toEqual(["exited", "out_of_memory 137"]);
    expect(stateOf(ended(137, true), { policy: "no", oneShot: true })).toEqual(["exited", "out_of_memory 137"]);
  });

  test("reports out of memory when the kernel killed a container at its limit, even if the engine missed it", () => {
    const limited = { policy: "no", oneShot: true, memory: 1_024 };
    expect(stateOf(ended(137), limited)).toEqual(["exited", "out_of_memory 137"]);
    expect(stateOf({ ...ended(137), Status: "restarting" }, { memory: 1_024 })).toEqual([
      "restarting",
      "out_of_memory 137",
    ]);
    expect(stateOf(ended(137), { ...limited, memory: 0 })).toEqual(["exited", "exited 137"]);
    expect(stateOf(ended(1), limited)).toEqual(["exited", "exited 1"]);
    // It was stopped.
    expect(stateOf(ended(137), { memory: 1_024 })).toEqual(["exited", "stopped 137"]);
  });

  test("reports listening ports, the number of restarts, and the health check result", () => {
    const up = record({ Health: { Status: "starting" } }, { restarts: 2 });
    expect(instanceOf(up, sight({ listens: true, restartsBefore: 3 }))).toMatchObject({
      status: "running",
      restarts: 5,
      health: "starting",
      containerId: "c1",
      port: 23_000,
      ports: [{ inside: 8_080, port: 23_000 }],
    });
    expect(instanceOf(record({ Health: { Status: "none" } }), sight()).health).toBeNull();
    const givenUp = record({ Status: "exited" }, { policy: "no", restarts: 5 });
    expect(instanceOf(givenUp, sight({ restartsBefore: 5 }))).toMatchObject({ restarts: 10, containerId: null });
  });
});

test("instanceOf() returns all ports in their order, or none", () => {
  expect(published("9090:23001 80:23000")).toMatchObject({
    port: 23_001,
    ports: [
      { inside: 9_090, port: 23_001 },
      { inside: 80, port: 23_000 },
    ],
  });
  expect(published("")).toMatchObject({ port: null, ports: [], status: "running" });
});

test("isGivenUp() is true for a container that is not restarted although it is no one-shot", () => {
  expect(isGivenUp(record({ Status: "exited" }, { policy: "no" }))).toBe(true);
  expect(isGivenUp(record({ Status: "exited" }))).toBe(false);
  expect(isGivenUp(record({ Status: "exited" }, { policy: "no", oneShot: true }))).toBe(false);
});

test("instanceOf() returns the latest time of the next start of a waiting container", () => {
  const next = (restarts: number) => {
    const state = { Status: "restarting", StartedAt: ago(5), FinishedAt: ago(0) } as const;
    return instanceOf(record(state, { restarts }), sight()).nextStartAt!.getTime() - NOW;
  };
  expect([1, 2, 5, 20].map(next)).toEqual([100, 200, 1_600, 60_000]);
  expect(instanceOf(record({}), sight())).toMatchObject({ failing: false, nextStartAt: null });
});

test("isStartDue() is true only for a container that the engine should run but could not start", () => {
  expect(isStartDue(record({ Status: "exited", Error: "port is already allocated" }))).toBe(true);
  expect(isStartDue(record({ Status: "exited" }))).toBe(false);
  expect(isStartDue(record({ Status: "exited", Error: "x" }, { policy: "no" }))).toBe(false);
});
