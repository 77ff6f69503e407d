import { describe, expect, test } from "bun:test";
import { memoryWorld } from "../../../adapters/memory/memory_world.ts";
import { ServiceLog } from "../../../application/services/service_log.ts";
import type { OutputLine, OutputQuery } from "../../../ports/services/runtime.ts";
import { aDeployment, minutes } from "../../support/database/store_builders.ts";

const lines = (...messages: readonly string[]): OutputLine[] =>
  messages.map((message, index) => ({ seq: index + 1, at: minutes(index), stream: "stdout", message }));

const from = (all: readonly OutputLine[], { since, limit }: OutputQuery) =>
  all.filter(({ seq }) => seq > since).slice(0, limit);

async function scene() {
  const { runtimeLogs, ...world } = memoryWorld();
  const owner = { deploymentId: (await aDeployment(world)).id, service: "web" };
  const record = (instanceId: string, all: readonly OutputLine[]) =>
    runtimeLogs.append(owner, { instanceId, lines: all, leftOut: null }, { maxBytes: 10_000 });
  return {
    runtimeLogs,
    owner,
    record,
    async log(output: (instanceId: string, wanted: OutputQuery) => Promise<readonly OutputLine[]>) {
      const [state] = await runtimeLogs.states([owner]);
      return new ServiceLog({ runtime: { output }, runtimeLogs }, { owner, instanceId: "one", state });
    },
  };
}

const messages = (all: readonly OutputLine[]) => all.map(({ seq, message }) => `${seq} ${message}`);

describe("ServiceLog", () => {
  test("read() continues from the recorded lines to the live output, up to the limit", async () => {
    const { log, owner, record, runtimeLogs } = await scene();
    await record("one", lines("a", "b"));
    await runtimeLogs.seal(owner, "one");
    const read = await log(async (_, wanted) => from(lines("c", "d"), wanted));
    expect(messages(await read.read({ since: 0, limit: 10 }))).toEqual(["1 a", "2 b", "3 c", "4 d"]);
    expect(messages(await read.read({ since: 1, limit: 2 }))).toEqual(["2 b", "3 c"]);
    expect(messages(await read.read({ since: 0, limit: 2 }))).toEqual(["1 a", "2 b"]);
    expect(messages(await read.read({ since: 3, limit: 2 }))).toEqual(["4 d"]);
    expect(await read.read({ since: 4, limit: 2 })).toEqual([]);
  });

  test("read() does not need the runtime for recorded lines", async () => {
    const { log, record } = await scene();
    await record("one", lines("a", "b"));
    const read = await log(() => Promise.reject(new Error("The engine is away")));
    expect(messages(await read.read({ since: 0, limit: 10 }))).toEqual(["1 a", "2 b"]);
    expect(await read.read({ since: 2, limit: 10 })).toEqual([]);
  });

  test("read() finds lines that were recorded and removed while it read", async () => {
    const { log, record } = await scene();
    const read = await log(async () => {
      await record("one", lines("a", "b", "bye"));
      return [];
    });
    expect(messages(await read.read({ since: 1, limit: 10 }))).toEqual(["2 b", "3 bye"]);
  });
});
