import { describe, expect, test } from "bun:test";
import type { DeploymentEvent, NewEvent } from "../../domain/deployments/deployment_event.ts";
import { newId } from "../../domain/id.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aDeployment, logLine, minutes } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

/** One event of every type. */
const EVERY_TYPE: readonly NewEvent[] = [
  { type: "status", status: "building", decision: null },
  logLine("hello", { level: "warn", service: "web", step: null, stream: "slipway" }),
  { type: "progress", step: "build", percent: 40 },
  { type: "service", name: "web", status: "failed", error: "exit code 1" },
  {
    type: "prompt",
    promptId: "p1",
    title: "Go on?",
    message: "Really?",
    actions: [{ id: "approve", label: "Approve" }],
    expiresAt: minutes(5),
  },
  { type: "end", status: "failed", decision: null, error: { code: "x", message: "y", step: "build" } },
];

function lines(from: number, count: number): NewEvent[] {
  return Array.from({ length: count }, (_, index) => logLine(`line ${from + index}`));
}

function messages(events: readonly DeploymentEvent[]): string[] {
  return events.map((event) => (event.type === "log" ? event.message : event.type));
}

function counted(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

/** Contract tests for `DeploymentEvents` adapters. */
export function deploymentEventsContract(
  name: string,
  open: () => Promise<
    WorldOf<"deployments" | "deploymentEvents" | "installation" | "organizations" | "projects" | "elsewhere">
  >,
) {
  describe(`DeploymentEvents contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function anId(): Promise<string> {
      return (await aDeployment(world())).id;
    }

    /** Follows until `count` events have arrived, then aborts. */
    async function followed(
      id: string,
      { since, count, events = world().deploymentEvents }: { since: number; count: number; events?: Followable },
    ): Promise<DeploymentEvent[]> {
      const leaving = new AbortController();
      const seen: DeploymentEvent[] = [];
      for await (const batch of events.follow(id, { since, signal: leaving.signal })) {
        expect(batch.length).toBeGreaterThan(0);
        seen.push(...batch);
        if (seen.length >= count) leaving.abort();
      }
      return seen;
    }

    type Followable = ReturnType<typeof world>["deploymentEvents"];

    test("append() numbers events from 1 without gaps and read() returns every type", async () => {
      const id = await anId();
      expect(await world().deploymentEvents.last(id)).toBe(0);
      expect(await world().deploymentEvents.append(id, EVERY_TYPE.slice(0, 2))).toBe(2);
      expect(await world().deploymentEvents.append(id, EVERY_TYPE.slice(2))).toBe(6);
      expect(await world().deploymentEvents.last(id)).toBe(6);
      const expected = EVERY_TYPE.map((event, index) => ({ ...event, seq: index + 1 }));
      expect(await world().deploymentEvents.read(id, { since: 0, limit: 100 })).toEqual(expected);
    });

    test("append() of no events returns the last number", async () => {
      const id = await anId();
      expect(await world().deploymentEvents.append(id, [])).toBe(0);
      await world().deploymentEvents.append(id, lines(1, 3));
      expect(await world().deploymentEvents.append(id, [])).toBe(3);
      expect(await world().deploymentEvents.last(id)).toBe(3);
    });

    test("append() to an unknown deployment is refused; read() and last() find nothing", async () => {
      const id = newId("dep");
      await expect(world().deploymentEvents.append(id, lines(1, 1))).rejects.toMatchObject({ kind: "not_found" });
      expect(await world().deploymentEvents.read(id, { since: 0, limit: 10 })).toEqual([]);
      expect(await world().deploymentEvents.last(id)).toBe(0);
    });

    test("append() stores odd texts unchanged, with ANSI codes and line breaks", async () => {
      const id = await anId();
      const texts = [...oddTexts, "", "\u001b[31mred\u001b[0m\rprogress 50%\r\n", "x".repeat(1_000_000)];
      await world().deploymentEvents.append(
        id,
        texts.map((text) => logLine(text, { service: text.slice(0, 50) })),
      );
      const events = await world().deploymentEvents.read(id, { since: 0, limit: 100 });
      expect(messages(events)).toEqual(texts);
    });

    test("append() replaces characters that cannot be stored, and stores the whole batch", async () => {
      const id = await anId();
      const broken = [logLine("a\0b"), logLine("\ud83dx"), logLine("y\ude80"), logLine("🚀"), logLine("\\u0000")];
      const service: NewEvent = { type: "service", name: "a\0", status: "failed", error: "\0" };
      expect(await world().deploymentEvents.append(id, [...broken, service])).toBe(6);
      const events = await world().deploymentEvents.read(id, { since: 0, limit: 10 });
      expect(messages(events.slice(0, 5))).toEqual(["a\uFFFDb", "\uFFFDx", "y\uFFFD", "🚀", "\\u0000"]);
      expect(events[5]).toMatchObject({ name: "a\uFFFD", error: "\uFFFD" });
    });

    test("concurrent append() calls in two processes keep each batch together and leave no gap", async () => {
      const id = await anId();
      const { deploymentEvents, elsewhere } = world();
      const lasts = await Promise.all(
        counted(0, 20).map((writer) =>
          (writer % 2 ? deploymentEvents : elsewhere.deploymentEvents).append(
            id,
            counted(0, 7).map((index) => logLine(`${writer}.${index}`)),
          ),
        ),
      );
      expect(lasts.toSorted((a, b) => a - b)).toEqual(counted(1, 20).map((batch) => batch * 7));
      const events = await deploymentEvents.read(id, { since: 0, limit: 1_000 });
      expect(events.map(({ seq }) => seq)).toEqual(counted(1, 140));
      for (const [writer, last] of lasts.entries()) {
        expect(messages(events.slice(last - 7, last))).toEqual(counted(0, 7).map((index) => `${writer}.${index}`));
      }
    });

    test("read() returns at most the limit after a number, across batches of any size", async () => {
      const id = await anId();
      for (const [from, count] of [
        [1, 1],
        [2, 3_000],
        [3_002, 1],
        [3_003, 1_998],
      ] as const) {
        await world().deploymentEvents.append(id, lines(from, count));
      }
      const read = async (since: number, limit: number) => {
        const events = await world().deploymentEvents.read(id, { since, limit });
        expect(messages(events)).toEqual(events.map(({ seq }) => `line ${seq}`));
        return events.map(({ seq }) => seq);
      };
      expect(await read(0, 1)).toEqual([1]);
      expect(await read(0, 10)).toEqual(counted(1, 10));
      expect(await read(1, 2)).toEqual([2, 3]);
      expect(await read(1_500, 1_000)).toEqual(counted(1_501, 1_000));
      expect(await read(3_000, 5)).toEqual(counted(3_001, 5));
      expect(await read(0, 10_000)).toEqual(counted(1, 5_000));
      expect(await read(4_999, 10)).toEqual([5_000]);
      expect(await read(5_000, 10)).toEqual([]);
      expect(await read(9_999_999, 10)).toEqual([]);
      expect(await read(0, 0)).toEqual([]);
      expect(await read(-5, 2)).toEqual([1, 2]);
    });

    test("read() returns only log lines, or those of one service, however far apart they are", async () => {
      const id = await anId();
      const batch = (index: number) => [
        EVERY_TYPE[0]!,
        ...counted(0, 400).map((line) => logLine(`${index}.${line}`, { service: line === 399 ? "rare" : null })),
      ];
      for (const index of counted(0, 10)) await world().deploymentEvents.append(id, batch(index));
      await world().deploymentEvents.append(id, [EVERY_TYPE[0]!]);
      const { deploymentEvents } = world();
      const all = await deploymentEvents.read(id, { since: 0, limit: 10_000, only: { type: "log" } });
      expect(all).toHaveLength(4_000);
      const rare = { type: "log", service: "rare" } as const;
      const some = await deploymentEvents.read(id, { since: 401, limit: 3, only: rare });
      expect(messages(some)).toEqual(["1.399", "2.399", "3.399"]);
      expect(some.map(({ seq }) => seq)).toEqual([802, 1_203, 1_604]);
      expect(await deploymentEvents.read(id, { since: 0, limit: 100, only: rare })).toHaveLength(10);
      const absent = { type: "log", service: "absent" } as const;
      expect(await deploymentEvents.read(id, { since: 0, limit: 10, only: absent })).toEqual([]);
      expect(await deploymentEvents.read(id, { since: 4_010, limit: 10, only: { type: "log" } })).toEqual([]);
    });

    test("read() returns the newest events, log lines or lines of one service, in order, across batches", async () => {
      const id = await anId();
      for (const [from, count] of [
        [1, 1],
        [2, 3_000],
        [3_002, 1],
        [3_003, 1_998],
      ] as const) {
        await world().deploymentEvents.append(id, lines(from, count));
      }
      for (const index of counted(1, 3)) {
        const line = logLine(`rare ${index}`, { service: "rare" });
        await world().deploymentEvents.append(id, [line, EVERY_TYPE[0]!]);
      }
      const read = async (since: number, limit: number, only?: { type: "log"; service?: string }) => {
        const query = { since, limit, newest: true, ...(only && { only }) };
        return (await world().deploymentEvents.read(id, query)).map(({ seq }) => seq);
      };
      expect(await read(0, 2)).toEqual([5_005, 5_006]);
      expect(await read(0, 8)).toEqual(counted(4_999, 8));
      expect(await read(0, 4_000)).toEqual(counted(1_007, 4_000));
      expect(await read(0, 10_000)).toEqual(counted(1, 5_006));
      expect(await read(5_004, 10)).toEqual([5_005, 5_006]);
      expect(await read(5_006, 10)).toEqual([]);
      expect(await read(-5, 1)).toEqual([5_006]);
      expect(await read(0, 0)).toEqual([]);
      expect(await read(0, 4, { type: "log" })).toEqual([5_000, 5_001, 5_003, 5_005]);
      expect(await read(0, 2, { type: "log", service: "rare" })).toEqual([5_003, 5_005]);
      expect(await read(5_003, 2, { type: "log", service: "rare" })).toEqual([5_005]);
      expect(await read(0, 2, { type: "log", service: "absent" })).toEqual([]);
      expect(await world().deploymentEvents.read(newId("dep"), { since: 0, limit: 5, newest: true })).toEqual([]);
    });

    test("read() returns the newest of lines that together exceed a page", async () => {
      const id = await anId();
      for (const index of counted(1, 12)) {
        await world().deploymentEvents.append(id, [logLine(`${index} ${"x".repeat(200_000)}`)]);
      }
      const newest = await world().deploymentEvents.read(id, { since: 2, limit: 9, newest: true });
      expect(newest.map(({ seq }) => seq)).toEqual(counted(4, 9));
    });

    test("follow() yields stored events after a number, then new ones from any process, in order", async () => {
      const id = await anId();
      const { deploymentEvents, deployments, elsewhere } = world();
      await deploymentEvents.append(id, lines(1, 2_500));
      const following = followed(id, { since: 100, count: 2_410 });
      await Bun.sleep(5);
      for (const from of [2_501, 2_503, 2_505, 2_507]) await elsewhere.deploymentEvents.append(id, lines(from, 2));
      await deploymentEvents.append(id, lines(2_509, 1));
      await deployments.change(id, (deployment) => ({ deployment, events: lines(2_510, 1) }));
      const seen = await following;
      expect(seen.map(({ seq }) => seq)).toEqual(counted(101, 2_410));
      expect(messages(seen)).toEqual(counted(101, 2_410).map((seq) => `line ${seq}`));
    });

    test("follow() returns times and all fields as read() does", async () => {
      const id = await anId();
      await world().deploymentEvents.append(id, EVERY_TYPE);
      const stored = await followed(id, { since: 0, count: 6 });
      expect(stored).toEqual([...(await world().deploymentEvents.read(id, { since: 0, limit: 10 }))]);
      const following = followed(id, { since: 6, count: 6 });
      await world().deploymentEvents.append(id, EVERY_TYPE);
      expect(await following).toEqual(EVERY_TYPE.map((event, index) => ({ ...event, seq: index + 7 })));
    });

    test("follow() from beyond the last event waits for later ones", async () => {
      const id = await anId();
      await world().deploymentEvents.append(id, lines(1, 2));
      const following = followed(id, { since: 4, count: 2 });
      for (const from of [3, 4, 5, 6]) await world().deploymentEvents.append(id, lines(from, 1));
      expect((await following).map(({ seq }) => seq)).toEqual([5, 6]);
    });

    test("many follow() readers at different positions lose nothing, even when some come and go", async () => {
      const id = await anId();
      const total = 1_000;
      const whole = counted(0, 20).map((index) => followed(id, { since: index * 10, count: total - index * 10 }));
      const brief = counted(0, 10).map((index) => followed(id, { since: 0, count: 1 + index * 20 }));
      for (let from = 1; from <= total; from += 50) await world().deploymentEvents.append(id, lines(from, 50));
      for (const [index, seen] of (await Promise.all(whole)).entries()) {
        expect(seen.map(({ seq }) => seq)).toEqual(counted(index * 10 + 1, total - index * 10));
      }
      for (const seen of await Promise.all(brief)) {
        expect(seen.map(({ seq }) => seq)).toEqual(counted(1, seen.length));
      }
    });

    test("follow() with a slow reader yields every event that was appended meanwhile", async () => {
      const id = await anId();
      const leaving = new AbortController();
      const following = world().deploymentEvents.follow(id, { since: 0, signal: leaving.signal });
      const iterator = following[Symbol.asyncIterator]();
      await world().deploymentEvents.append(id, lines(1, 1));
      const first = await iterator.next();
      const fast = followed(id, { since: 0, count: 40_001 });
      for (let from = 2; from < 40_000; from += 4_000) await world().deploymentEvents.append(id, lines(from, 4_000));
      expect(await fast).toHaveLength(40_001);
      const seen = [...first.value!];
      while (seen.length < 40_001) seen.push(...(await iterator.next()).value!);
      expect(seen.map(({ seq }) => seq)).toEqual(counted(1, 40_001));
      leaving.abort();
      expect((await iterator.next()).done).toBe(true);
    });

    test("follow() returns when aborted before it starts, while it waits, and between events", async () => {
      const id = await anId();
      await world().deploymentEvents.append(id, lines(1, 1));
      const { deploymentEvents } = world();
      const never = deploymentEvents.follow(id, { since: 0, signal: AbortSignal.abort() })[Symbol.asyncIterator]();
      expect((await never.next()).done).toBe(true);
      const leaving = new AbortController();
      const waiting = deploymentEvents.follow(id, { since: 1, signal: leaving.signal })[Symbol.asyncIterator]();
      const next = waiting.next();
      await Bun.sleep(10);
      leaving.abort();
      expect((await next).done).toBe(true);
    });

    test("follow() returns when the deployment is removed, and immediately for an unknown one", async () => {
      const { id, organizationId } = await aDeployment(world());
      const following = followed(id, { since: 0, count: 1 });
      await Bun.sleep(5);
      await world().deployments.remove(organizationId, id);
      expect(await following).toEqual([]);
      expect(await followed(newId("dep"), { since: 0, count: 1 })).toEqual([]);
    });

    test("follow() yields the same events in two processes", async () => {
      const id = await anId();
      const { deploymentEvents, elsewhere } = world();
      const both = [deploymentEvents, elsewhere.deploymentEvents].map((events) =>
        followed(id, { since: 0, count: 300, events }),
      );
      for (let from = 1; from < 300; from += 30) await deploymentEvents.append(id, lines(from, 30));
      const [here, there] = await Promise.all(both);
      expect(here!.map(({ seq }) => seq)).toEqual(counted(1, 300));
      expect(there).toEqual(here!);
    });
  });
}
