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
    const memory = new ReadMemory<string>(10);
    const set = (key: string, rows: number) => memory.set(key, { version: "1", result: key, rows });
    set("one", 4);
    set("two", 4);
    memory.get("one");
    set("three", 4);
    expect(["one", "two", "three"].map((key) => memory.get(key)?.result)).toEqual(["one", undefined, "three"]);
    set("one", 2);
    set("four", 4);
    expect(["one", "three", "four"].map((key) => memory.get(key)?.result)).toEqual(["one", "three", "four"]);
    set("huge", 11);
    expect(["one", "three", "four", "huge"].map((key) => memory.get(key))).toEqual(Array(4).fill(undefined));
  });
});
