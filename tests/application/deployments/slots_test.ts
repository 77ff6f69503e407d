import { describe, expect, test } from "bun:test";
import { Slots } from "../../../application/system/slots.ts";

const { signal } = new AbortController();

/** Starts work that runs until `end` is called. */
function work(slots: Slots, begun: string[], name: string, given: AbortSignal = signal) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const owner = name.slice(0, 1);
  const done = slots.run(
    async () => {
      begun.push(name);
      await promise;
    },
    { signal: given, owner },
  );
  const end = async () => {
    resolve();
    await done;
    await allBegun();
  };
  return { end, done };
}

/** Resolves once all work that may start has started. */
function allBegun(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

describe("Slots", () => {
  test("run() starts no more than there are slots, in order of arrival", async () => {
    const [slots, begun] = [new Slots(2), [] as string[]];
    const works = ["a1", "a2", "a3", "a4"].map((name) => work(slots, begun, name));
    await allBegun();
    expect(begun).toEqual(["a1", "a2"]);
    for (const { end } of works) await end();
    expect(begun).toEqual(["a1", "a2", "a3", "a4"]);
  });

  test("run() starts a task of one key before the many of another", async () => {
    const [slots, begun] = [new Slots(2), [] as string[]];
    const many = ["b1", "b2", "b3", "b4", "b5"].map((name) => work(slots, begun, name));
    const one = work(slots, begun, "a1");
    await many[0]!.end();
    expect(begun).toEqual(["b1", "b2", "a1"]);
    await one.end();
    expect(begun).toEqual(["b1", "b2", "a1", "b3"]);
    for (const { end } of many) await end();
    expect(begun).toHaveLength(6);
  });

  test("run() stops waiting when it is aborted, and keeps no slot", async () => {
    const [slots, begun] = [new Slots(1), [] as string[]];
    const stop = new AbortController();
    const first = work(slots, begun, "a1");
    const given = work(slots, begun, "a2", stop.signal);
    const last = work(slots, begun, "a3");
    stop.abort("enough");
    await expect(given.done).rejects.toBe("enough");
    await first.end();
    await last.end();
    expect(begun).toEqual(["a1", "a3"]);
  });
});
