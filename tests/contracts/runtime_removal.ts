import { describe, expect, test } from "bun:test";
import type { Runnable } from "../../ports/services/runtime.ts";
import { eventually } from "../support/eventually.ts";
import { runRequest, type RuntimeForContract } from "./runtime.ts";

const GRACE = { graceMs: 10_000 };

/** Contract tests for `Runtime` adapters: the last output of an instance can be read before its removal. */
export function runtimeRemovalContract<From extends Runnable>(
  name: string,
  open: () => Promise<RuntimeForContract<From>>,
  { atOnce = false } = {},
) {
  const promise = atOnce ? test.concurrent : test;
  describe(`Runtime contract, removal: ${name}`, () => {
    promise(
      "remove() makes the whole output readable, the last lines too, right before it forgets an instance",
      async () => {
        await using world = await open();
        const { runtime, programs } = world;
        const { instanceId } = await runtime.start(runRequest(world, programs.polite));
        const read = () => runtime.output(instanceId, { since: 0, limit: 10 });
        const before = await eventually(read, ({ length }) => length > 0);
        let after: typeof before = [];
        const beforeForgetting = async () => void (after = await read());
        await runtime.remove(instanceId, { graceMs: 10_000, beforeForgetting });
        expect(after.map(({ message }) => message)).toEqual(["started", "bye", "for good"]);
        expect(after[0]).toEqual(before[0]!);
        expect(await runtime.find(instanceId)).toBeUndefined();
        expect(await read()).toEqual([]);
      },
    );

    promise(
      "remove() that fails before it forgets leaves a stopped instance, to be restarted or removed again",
      async () => {
        await using world = await open();
        const { runtime, programs } = world;
        const { instanceId } = await runtime.start(runRequest(world, programs.polite));
        const read = () => runtime.output(instanceId, { since: 0, limit: 10 });
        await eventually(read, ({ length }) => length > 0);
        const reason = new Error("Broken on purpose");
        const broken = runtime.remove(instanceId, { graceMs: 10_000, beforeForgetting: () => Promise.reject(reason) });
        expect(await broken.catch((error: unknown) => error)).toBe(reason);
        expect(await runtime.find(instanceId)).toMatchObject({ status: "exited", exit: { reason: "stopped" } });
        expect((await runtime.list()).map((each) => each.instanceId)).toEqual([instanceId]);
        expect(await runtime.restart(instanceId, GRACE)).toMatchObject({ exit: null });
        await eventually(read, ({ length }) => length > 3);
        let after: Awaited<ReturnType<typeof read>> = [];
        await runtime.remove(instanceId, { ...GRACE, beforeForgetting: async () => void (after = await read()) });
        const messages = ["started", "bye", "for good"];
        expect(after.map(({ message }) => message)).toEqual([...messages, ...messages]);
        expect(await runtime.list()).toEqual([]);
      },
    );

    promise("remove() of an unknown instance does not call beforeForgetting", async () => {
      await using world = await open();
      let calls = 0;
      await world.runtime.remove("unknown", { ...GRACE, beforeForgetting: async () => void calls++ });
      expect(calls).toBe(0);
    });
  });
}
