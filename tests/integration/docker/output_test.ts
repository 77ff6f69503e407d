import { describe, expect, test } from "bun:test";
import type { LogFrame } from "../../../adapters/docker/containers/log_frames.ts";
import { NumberedLines } from "../../../adapters/docker/containers/numbered_lines.ts";
import type { OutputLine, Runtime } from "../../../ports/services/runtime.ts";
import { type DockerWorld, dockerWorld } from "../../support/peers/docker_world.ts";
import { eventually } from "../../support/eventually.ts";
import { runRequest, whenStatus } from "../../contracts/runtime.ts";

/** Runs a command to its end and returns its instance id. */
async function ended(world: DockerWorld, command: string): Promise<string> {
  const { instanceId } = await world.runtime.start(runRequest(world, command, { oneShot: true }));
  await whenStatus(world.runtime, instanceId, "exited");
  return instanceId;
}

/** The whole output of an instance, read in pages. */
async function pages(runtime: Pick<Runtime, "output">, instanceId: string, limit = 10_000): Promise<OutputLine[]> {
  const lines: OutputLine[] = [];
  for (;;) {
    const page = await runtime.output(instanceId, { since: lines.at(-1)?.seq ?? 0, limit });
    if (page.length === 0) return lines;
    expect(page.length).toBeLessThanOrEqual(limit);
    lines.push(...page);
  }
}

function expectGrowing(lines: readonly OutputLine[]): void {
  expect(lines.findIndex(({ seq }, index) => seq <= (lines[index - 1]?.seq ?? 0))).toBe(-1);
}

function frame(second: string, text: string, stream: LogFrame["stream"] = "stdout"): LogFrame {
  return { stream, at: `2026-01-01T00:00:${second}Z`, bytes: Buffer.from(text) };
}

describe("DockerRuntime: the output of a program", () => {
  test("output() returns 100,000 lines once each, in pages of any size", async () => {
    await using world = await dockerWorld();
    const instanceId = await ended(world, "seq 1 100000");
    const all = await pages(world.runtime, instanceId, 40_000);
    expect(all).toHaveLength(100_000);
    expect(all.findIndex(({ message }, index) => message !== `${index + 1}`)).toBe(-1);
    expectGrowing(all);
    const other = world.another();
    for (const from of [1, 50_000, 99_500, 99_990]) {
      const page = await other.output(instanceId, { since: all[from - 1]!.seq, limit: 7 });
      expect(page).toEqual(all.slice(from, from + 7));
    }
    expect(await other.output(instanceId, { since: all.at(-1)!.seq, limit: 7 })).toEqual([]);
  });

  test("output() keeps both streams separate, joins what the engine splits, and shows every state of a progress bar", async () => {
    await using world = await dockerWorld();
    const command = [
      "echo out; echo err >&2",
      "head -c 40000 /dev/zero | tr '\\0' x; echo",
      "printf '\\033[31mred\\033[0m\\n'; printf 'bad \\377 byte\\n'; printf '10%%\\r20%%\\r\\n'; printf 'no end'",
    ].join("; ");
    const lines = await pages(world.runtime, await ended(world, command));
    expect(lines.filter(({ stream }) => stream === "stderr").map(({ message }) => message)).toEqual(["err"]);
    const printed = lines.filter(({ stream }) => stream === "stdout").map(({ message }) => message);
    const long = printed.slice(1, 4);
    expect(long.join("")).toBe("x".repeat(40_000));
    expect(long.map(({ length }) => length)).toEqual([16_384, 16_384, 7_232]);
    expect([printed[0], ...printed.slice(4)]).toEqual([
      "out",
      "\u001b[31mred\u001b[0m",
      "bad \ufffd byte",
      "10%",
      "20%",
      "no end",
    ]);
    expectGrowing(lines);
  });

  test("output() continues its numbers over restarts, and does not mix an unfinished line with the next start's", async () => {
    await using world = await dockerWorld();
    const command = "printf 'begun'; echo ready >&2; exec sleep 600";
    const { instanceId } = await world.runtime.start(runRequest(world, command));
    // An incomplete line is not shown yet.
    const begun = (times: number) =>
      eventually(
        () => world.runtime.output(instanceId, { since: 0, limit: 10 }),
        (lines) => lines.filter(({ message }) => message === "ready").length === times,
      );
    for (let times = 1; times <= 2; times++) {
      await begun(times);
      await world.runtime.restart(instanceId, { graceMs: 0 });
    }
    await begun(3);
    await world.docker("stop", "--time", "0", await world.containerOf(instanceId));
    const lines = await pages(world.runtime, instanceId, 1);
    expect(lines.map(({ message }) => message)).toEqual(["ready", "begun", "ready", "begun", "ready", "begun"]);
    expectGrowing(lines);
    expect(await pages(world.another(), instanceId)).toEqual(lines);
  });

  test("output() keeps numbers when old lines are dropped, and holds no more than a page", async () => {
    await using world = await dockerWorld();
    // Each half is smaller than what the engine keeps, and the second waits until the first was read: nothing is
    // dropped before.
    const half = "until [ $((i+=1)) -gt $end ]; do echo $i $x; done";
    const command = [
      `echo first; x=$(head -c 10000 /dev/zero | tr '\\0' y)`,
      `i=0; end=1800; ${half}; echo half; until [ -e /tmp/go ]; do sleep 0.05; done`,
      `i=1800; end=3600; ${half}; echo last; exec sleep 600`,
    ].join("; ");
    const { instanceId } = await world.runtime.start(runRequest(world, command));
    const early = await eventually(
      () => world.runtime.output(instanceId, { since: 0, limit: 200 }),
      ({ length }) => length === 200,
    );
    const numbers = new Map(early.map(({ seq, message }) => [message.slice(0, 20), seq]));
    const container = await world.containerOf(instanceId);
    let last = early.at(-1)!;
    while (last.message !== "last") {
      const page = await world.runtime.output(instanceId, { since: last.seq, limit: 10_000 });
      expect(page.reduce((sum, { message }) => sum + message.length, 0)).toBeLessThan(9_000_000);
      for (const { seq, message } of page) numbers.set(message.slice(0, 20), seq);
      last = page.at(-1) ?? last;
      if (last.message === "half") await world.docker("exec", container, "touch", "/tmp/go");
    }
    const kept = await pages(world.another(), instanceId);
    expect(kept[0]!.message).not.toBe("first");
    expect(kept.length).toBeGreaterThan(1_500);
    expect(kept.filter(({ seq, message }) => numbers.get(message.slice(0, 20)) !== seq)).toEqual([]);
    expect(numbers.size).toBe(3_603);
  });
});

describe("NumberedLines", () => {
  const created = new Date("2026-01-01T00:00:00Z");
  const numbered = (frames: readonly LogFrame[]) => {
    const lines = new NumberedLines(created);
    return [...frames.flatMap((each) => lines.take(each)), ...lines.end()].map(({ seq, message }) => [seq, message]);
  };

  test("take() numbers by time, and by one more when the time does not advance", () => {
    const frames = [
      frame("01.000000000", "a\n"),
      frame("01.000000249", "b\n"),
      frame("01.000000250", "c\n", "stderr"),
      frame("00.500000000", "d\n"),
      frame("01.000001000", "e\n"),
    ];
    expect(numbered(frames)).toEqual([
      [4_000_001, "a"],
      [4_000_002, "b"],
      [4_000_003, "c"],
      [4_000_004, "d"],
      [4_000_005, "e"],
    ]);
    expect(new NumberedLines(created).timeOf(4_000_001).getTime()).toBe(created.getTime() + 1_000);
  });

  test("take() ends a split line where the next one begins, and waits for its next part until then", () => {
    const part = "x".repeat(16_384);
    const lines = new NumberedLines(created);
    expect(lines.take(frame("01.000000000", part))).toEqual([]);
    expect(lines.take(frame("01.500000000", "between\n", "stderr")).map(({ message }) => message)).toEqual(["between"]);
    expect(lines.take(frame("02.000000000", "next\n")).map(({ message }) => message)).toEqual([part, "next"]);
    expect(lines.end()).toEqual([]);
  });
});
