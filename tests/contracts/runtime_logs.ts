import { describe, expect, test } from "bun:test";
import { lineBytes } from "../../domain/deployments/output_tail.ts";
import { newId } from "../../domain/id.ts";
import type { OutputLine } from "../../ports/services/runtime.ts";
import type { LogOwner } from "../../ports/services/runtime_logs.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aDeployment, anOrganization, aProject, minutes } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const PLENTY = { maxBytes: 10_000_000 };
const ALL = { since: 0, limit: 100_000 };

/** Lines with these messages, a second apart, numbered from 1 by default. */
function lines(messages: readonly string[], { firstSeq = 1, startMs = 0, gap = 1 } = {}): OutputLine[] {
  return messages.map((message, index) => ({
    seq: firstSeq + index * gap,
    at: new Date(minutes(1).getTime() + startMs + index * 1_000),
    stream: index % 3 === 2 ? "stderr" : "stdout",
    message,
  }));
}

function counted(count: number, word = "line"): string[] {
  return Array.from({ length: count }, (_, index) => `${word} ${index + 1}`);
}

function printed(instanceId: string, all: readonly OutputLine[]) {
  return { instanceId, lines: all, leftOut: null };
}

/** Contract tests for `RuntimeLogs` adapters. */
export function runtimeLogsContract(
  name: string,
  open: () => Promise<
    WorldOf<"deployments" | "installation" | "organizations" | "projects" | "runtimeLogs" | "elsewhere">
  >,
) {
  describe(`RuntimeLogs contract: ${name}`, () => {
    const world = sharedWorld(open);
    const logs = () => world().runtimeLogs;

    async function anOwner(service = "web"): Promise<LogOwner> {
      return { deploymentId: (await aDeployment(world())).id, service };
    }

    async function shown(owner: LogOwner): Promise<[number, string][]> {
      return (await logs().read(owner, ALL)).map(({ seq, message }) => [seq, message]);
    }

    test("read() returns what was appended, unchanged, in every process", async () => {
      const owner = await anOwner();
      const all = lines([...oddTexts, "", "\u001b[31mred\u001b[0m", "x".repeat(300_000)], { firstSeq: 7, gap: 4_000 });
      await logs().append(owner, printed("one", all), PLENTY);
      expect(await logs().read(owner, ALL)).toEqual(all);
      expect(await world().elsewhere.runtimeLogs.read(owner, ALL)).toEqual(all);
    });

    test("append() replaces characters that cannot be stored", async () => {
      const owner = await anOwner();
      await logs().append(owner, printed("one", lines(["a\0b", "\ud83dx", "y\ude80", "🚀", "\\u0000"])), PLENTY);
      const messages = (await shown(owner)).map(([, message]) => message);
      expect(messages).toEqual(["a\uFFFDb", "\uFFFDx", "y\uFFFD", "🚀", "\\u0000"]);
    });

    test("read() returns at most the limit after a number, from a given time on", async () => {
      const owner = await anOwner();
      const all = lines(counted(5_000), { gap: 3 });
      await logs().append(owner, printed("one", all), PLENTY);
      const read = (since: number, limit: number, from?: Date) =>
        logs().read(owner, { since, limit, ...(from && { from }) });
      expect(await read(0, 1)).toEqual(all.slice(0, 1));
      expect(await read(-1, 3)).toEqual(all.slice(0, 3));
      expect(await read(all[1_498]!.seq, 1_000)).toEqual(all.slice(1_499, 2_499));
      expect(await read(all[1_498]!.seq + 1, 2)).toEqual(all.slice(1_499, 1_501));
      expect(await read(all[4_998]!.seq, 10)).toEqual(all.slice(4_999));
      expect(await read(all[4_999]!.seq, 10)).toEqual([]);
      expect(await read(9_999_999_999_999, 10)).toEqual([]);
      expect(await read(0, 0)).toEqual([]);
      expect(await read(0, 2, all[3_200]!.at)).toEqual(all.slice(3_200, 3_202));
      expect(await read(all[3_300]!.seq, 2, all[3_200]!.at)).toEqual(all.slice(3_301, 3_303));
      expect(await read(0, 2, new Date(all[4_999]!.at.getTime() + 1))).toEqual([]);
    });

    test("read() of many long lines reaches the end page by page", async () => {
      const owner = await anOwner();
      const all = lines(Array.from({ length: 1_500 }, (_, index) => `${index} `.padEnd(16_000, "x")));
      await logs().append(owner, printed("one", all), { maxBytes: 100_000_000 });
      const read: OutputLine[] = [];
      for (let page = await logs().read(owner, ALL); page.length > 0;) {
        read.push(...page);
        page = await logs().read(owner, { ...ALL, since: page.at(-1)!.seq });
      }
      expect(read).toEqual(all);
    });

    test("append() continues the numbering with the lines of each further instance", async () => {
      const owner = await anOwner();
      await logs().append(owner, printed("one", lines(["a", "b"], { gap: 10 })), PLENTY);
      await world().elsewhere.runtimeLogs.append(owner, printed("two", lines(["c"])), PLENTY);
      await logs().append(owner, printed("three", lines(["d", "e"], { firstSeq: 100 })), PLENTY);
      const five = [1, 11, 12, 112, 113];
      expect(await shown(owner)).toEqual(["a", "b", "c", "d", "e"].map((message, index) => [five[index]!, message]));
    });

    test("append() again replaces the last lines of the same instance, and nothing before them", async () => {
      const owner = await anOwner();
      await logs().append(owner, printed("one", lines(["a"])), PLENTY);
      await logs().append(owner, printed("two", lines(["b", "c"])), PLENTY);
      await logs().append(owner, printed("two", lines(["b", "c", "d"])), PLENTY);
      await logs().append(owner, printed("two", lines(["b", "c", "d"])), PLENTY);
      expect(await shown(owner)).toEqual(["a", "b", "c", "d"].map((message, index) => [index + 1, message]));
    });

    test("seal() protects the lines of an instance from being replaced by one of the same id", async () => {
      const owner = await anOwner();
      await logs().append(owner, printed("one", lines(["a"])), PLENTY);
      await logs().seal(owner, "another");
      expect(await logs().states([owner])).toEqual([{ ...owner, last: 1, endsWith: "one" }]);
      await logs().seal(owner, "one");
      await logs().seal(owner, "one");
      expect(await logs().states([owner])).toEqual([{ ...owner, last: 1, endsWith: null }]);
      await logs().append(owner, printed("one", lines(["a"])), PLENTY);
      await logs().append(owner, printed("one", lines(["a", "b"])), PLENTY);
      expect(await shown(owner)).toEqual(["a", "a", "b"].map((message, index) => [index + 1, message]));
      await logs().seal({ deploymentId: newId("dep"), service: "web" }, "one");
    });

    test("states() returns the last number and the last instance of the existing logs", async () => {
      const [web, api] = [await anOwner("web"), await anOwner("api")];
      await logs().append(web, printed("one", lines(["a", "b"], { gap: 5 })), PLENTY);
      await logs().append({ ...web, service: "db" }, printed("two", lines(["c"])), PLENTY);
      expect(await logs().states([])).toEqual([]);
      expect(await logs().states([api, { ...api, service: "web" }])).toEqual([]);
      const states = await logs().states([web, api, { ...web, service: "db" }]);
      expect(states.toSorted((a, b) => b.last - a.last)).toEqual([
        { ...web, last: 6, endsWith: "one" },
        { ...web, service: "db", last: 1, endsWith: "two" },
      ]);
    });

    test("append() beyond the limit drops the oldest lines, and a line in their place says how many", async () => {
      const owner = await anOwner();
      const each = lineBytes("line 1");
      const bound = { maxBytes: each * 7 };
      const expectKept = async (total: number) => {
        const [first, ...kept] = await logs().read(owner, ALL);
        const left = total - kept.length;
        expect(kept.length).toBeLessThanOrEqual(7);
        expect(kept.map(({ seq }) => seq)).toEqual(kept.map((_, index) => left + index + 1));
        expect(first).toMatchObject({ seq: left, at: expect.any(Date), stream: "slipway" });
        expect(first!.message).toStartWith(`[${left} lines of output left out (`);
        expect(await logs().read(owner, { since: left - 1, limit: 1 })).toEqual([first!]);
        expect(await logs().read(owner, { since: left, limit: 1 })).toEqual(kept.slice(0, 1));
        expect(await logs().read(owner, { since: 0, limit: 2, from: kept[0]!.at })).toEqual(kept.slice(0, 2));
      };
      await logs().append(owner, printed("one", lines(counted(5))), bound);
      expect(await shown(owner)).toHaveLength(5);
      await logs().append(owner, printed("two", lines(counted(5), { startMs: 60_000 })), bound);
      await expectKept(10);
      // Appends again, as after a server crash.
      await logs().append(owner, printed("two", lines(counted(5), { startMs: 60_000 })), bound);
      await expectKept(10);
      const leftOut = { lines: 20, bytes: 20 * each, seq: 20, at: minutes(2.9) };
      for (let time = 0; time < 2; time++) {
        const all = lines(counted(4), { firstSeq: 21, startMs: 120_000 });
        await logs().append(owner, { instanceId: "three", lines: all, leftOut }, bound);
        await expectKept(34);
      }
      await logs().append(owner, printed("four", lines(counted(7), { startMs: 180_000 })), bound);
      await expectKept(41);
    });

    test("concurrent append() calls for different instances in two processes lose no line", async () => {
      const owner = await anOwner();
      const stores = [logs(), world().elsewhere.runtimeLogs];
      const ids = Array.from({ length: 8 }, (_, index) => `instance ${index}`);
      await Promise.all(
        ids.map((id, index) => stores[index % 2]!.append(owner, printed(id, lines(counted(3, id))), PLENTY)),
      );
      const all = await shown(owner);
      expect(all.map(([seq]) => seq)).toEqual(all.map((_, index) => index + 1));
      expect(all.map(([, message]) => message).toSorted()).toEqual(ids.flatMap((id) => counted(3, id)).toSorted());
    });

    test("append() is refused for an unknown deployment, and read() finds nothing there", async () => {
      const owner = { deploymentId: newId("dep"), service: "web" };
      const appended = logs().append(owner, printed("one", lines(["a"])), PLENTY);
      await expect(appended).rejects.toMatchObject({ kind: "not_found" });
      expect(await logs().read(owner, ALL)).toEqual([]);
    });

    test("removal of the deployment, or of its project, removes its logs", async () => {
      const { id: organizationId } = await anOrganization(world());
      const { id: projectId } = await aProject(world(), { organizationId });
      const made = [0, 1].map(() => aDeployment(world(), { organizationId, projectId }));
      const [gone, kept] = (await Promise.all(made)).map(({ id }) => ({ deploymentId: id, service: "web" }));
      for (const owner of [gone!, kept!]) await logs().append(owner, printed("one", lines(["a"])), PLENTY);
      await world().deployments.remove(organizationId, gone!.deploymentId);
      expect(await logs().read(gone!, ALL)).toEqual([]);
      expect(await logs().states([gone!])).toEqual([]);
      expect(await shown(kept!)).toEqual([[1, "a"]]);
      await world().projects.remove(organizationId, projectId);
      expect(await logs().states([kept!])).toEqual([]);
    });

    test("append() during removal of the deployment stores nothing, and fails as for an unknown one", async () => {
      for (let round = 0; round < 10; round++) {
        const { id, organizationId } = await aDeployment(world());
        const owner = { deploymentId: id, service: "web" };
        const [appended] = await Promise.allSettled([
          logs().append(owner, printed("one", lines(["a"])), PLENTY),
          world().elsewhere.deployments.remove(organizationId, id),
        ]);
        if (appended.status === "rejected") expect(appended.reason).toMatchObject({ kind: "not_found" });
        expect(await logs().states([owner])).toEqual([]);
      }
    });

    test("crowded() returns projects with logs of too many deployments, and remove() removes given logs", async () => {
      const { id: organizationId } = await anOrganization(world());
      const { id: projectId } = await aProject(world(), { organizationId });
      const owners: LogOwner[] = [];
      for (let count = 0; count < 3; count++) {
        const { id } = await aDeployment(world(), { organizationId, projectId });
        for (const service of ["web", "api"]) owners.push({ deploymentId: id, service });
      }
      for (const owner of owners) await logs().append(owner, printed("one", lines(["a"])), PLENTY);
      const isCrowded = async (count: number) => (await logs().crowded(count)).includes(projectId);
      expect([await isCrowded(2), await isCrowded(3)]).toEqual([true, false]);
      await logs().remove([owners[0]!.deploymentId, newId("dep")]);
      expect(await isCrowded(2)).toBe(false);
      expect((await logs().states(owners)).map(({ deploymentId }) => deploymentId)).not.toContain(
        owners[0]!.deploymentId,
      );
      expect(await logs().states(owners)).toHaveLength(4);
      expect(await logs().read(owners[0]!, ALL)).toEqual([]);
    });
  });
}
