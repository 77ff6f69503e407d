import { describe, expect, test } from "bun:test";
import { ReadMemory } from "../../../adapters/postgres/read_memory.ts";

async function fail(): Promise<never> {
  throw new Error("away");
}

describe("ReadMemory", () => {
  test("share() runs reads with one key that are requested together once, after the last of them", async () => {
    const memory = new ReadMemory<string>();
    let stored = "before";
    let count = 0;
    const read = () => memory.share("key", async () => `${stored} ${++count}`);
    const first = read();
    stored = "after";
    const second = read();
    expect(await Promise.all([first, second])).toEqual(["after 1", "after 1"]);
    expect(await read()).toBe("after 2");
  });

  test("share() keeps reads apart that began, or have other keys", async () => {
    const memory = new ReadMemory<string>();
    const slow = Promise.withResolvers<string>();
    const begun = Promise.withResolvers<void>();
    const first = memory.share("key", () => {
      begun.resolve();
      return slow.promise;
    });
    await begun.promise;
    expect(await memory.share("key", async () => "newer")).toBe("newer");
    expect(await memory.share("other", async () => "other")).toBe("other");
    slow.resolve("older");
    expect(await first).toBe("older");
  });

  test("share() passes a failure to all who share it, and to none after them", async () => {
    const memory = new ReadMemory<string>();
    const all = await Promise.allSettled([memory.share("key", fail), memory.share("key", fail)]);
    expect(all.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await memory.share("key", async () => "back")).toBe("back");
  });

  test("forgets the least recently used results once they hold too many rows", () => {
    const memory = new ReadMemory<string>(13);
    const set = (key: string, rows: number) => memory.set(key, { version: "1", result: key, rows, epoch: 0 });
    set("one", 4);
    set("two", 4);
    memory.get("one", 0);
    set("three", 4);
    expect(["one", "two", "three"].map((key) => memory.get(key, 0)?.result)).toEqual(["one", undefined, "three"]);
    set("one", 2);
    set("four", 4);
    expect(["one", "three", "four"].map((key) => memory.get(key, 0)?.result)).toEqual(["one", "three", "four"]);
    set("huge", 13);
    expect(["one", "three", "four", "huge"].map((key) => memory.get(key, 0))).toEqual(Array(4).fill(undefined));
  });

  test("forgets empty results too", () => {
    const memory = new ReadMemory<string>(10);
    for (let at = 0; at < 100; at++) memory.set(`${at}`, { version: "", result: "", rows: 0, epoch: 0 });
    const kept = Array.from({ length: 100 }, (_, at) => `${at}`).filter((key) => memory.get(key, 0));
    expect(kept).toEqual(["90", "91", "92", "93", "94", "95", "96", "97", "98", "99"]);
  });

  test("returns nothing that was read before a connection was lost", () => {
    const memory = new ReadMemory<string>();
    memory.set("key", { version: "1", result: "old", rows: 1, epoch: 1 });
    expect(memory.get("key", 1)?.result).toBe("old");
    expect(memory.get("key", 2)).toBeUndefined();
  });
});
