import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OutputPump } from "../../adapters/process/output_pump.ts";
import { OutputStore } from "../../adapters/process/output_store.ts";
import { afterEnding, isCrashLoop } from "../../adapters/process/restart_policy.ts";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "slipway-"))));
afterEach(() => rm(folder, { recursive: true }));

const all = { since: 0, limit: 10_000_000 };
const print = (text: string | Uint8Array, stream = "stdout") => appendFileSync(join(folder, stream), text);
const messages = () => new OutputStore(folder).read(all).map(({ message }) => message);

describe("OutputPump", () => {
  test("pump() numbers the lines of both streams, and waits for the end of a line", async () => {
    const pump = new OutputPump(folder);
    print("one\ntw");
    print("bad\n", "stderr");
    await pump.pump({ last: false });
    print("o\nthree");
    await pump.pump({ last: false });
    expect(new OutputStore(folder).read(all).map(({ seq, stream, message }) => [seq, stream, message])).toEqual([
      [1, "stdout", "one"],
      [2, "stderr", "bad"],
      [3, "stdout", "two"],
    ]);
    await pump.pump({ last: true });
    expect(messages()).toEqual(["one", "bad", "two", "three"]);
  });

  test("pump() takes an unfinished line once the program has been quiet", async () => {
    const pump = new OutputPump(folder);
    print("Password: ");
    await pump.pump({ last: false });
    expect(messages()).toEqual([]);
    utimesSync(join(folder, "stdout"), 1, 1);
    await pump.pump({ last: false });
    expect(messages()).toEqual(["Password: "]);
  });

  test("pump() keeps ANSI, splits at carriage returns, and replaces broken UTF-8 only", async () => {
    const pump = new OutputPump(folder);
    const rocket = new TextEncoder().encode("\u{1f680}\n");
    print("\u001b[31mred\u001b[0m\r\n10%\r20%\r30%\n");
    print(rocket.subarray(0, 2));
    await pump.pump({ last: false });
    print(rocket.subarray(2));
    print(new Uint8Array([0x61, 0xff, 0x62, 0x0a]));
    await pump.pump({ last: false });
    expect(messages()).toEqual(["\u001b[31mred\u001b[0m", "10%", "20%", "30%", "\u{1f680}", "a\ufffdb"]);
  });

  test("pump() splits a long line into pieces without losing one, wherever it is read between", async () => {
    const pump = new OutputPump(folder);
    const line = "\u{1f680}ü".repeat(1_000_000);
    const bytes = new TextEncoder().encode(`${line}\n`);
    for (let at = 0; at < bytes.length; at += 999_999) {
      print(bytes.subarray(at, at + 999_999));
      await pump.pump({ last: false });
    }
    expect(messages().join("") === line).toBe(true);
    expect(Math.max(...messages().map(({ length }) => length))).toBeLessThanOrEqual(16_384);
  });

  test("pump() resumes where a killed process stopped, each line once, wherever it was interrupted", async () => {
    const first = new OutputPump(folder);
    print("one\ntwo\n");
    await first.pump({ last: false });
    const whole = readFileSync(join(folder, "lines"));
    print("three\nfour\n");
    await first.pump({ last: false });
    const longer = readFileSync(join(folder, "lines"));
    for (let cut = whole.length; cut < longer.length; cut++) {
      writeFileSync(join(folder, "lines"), longer.subarray(0, cut));
      await new OutputPump(folder).pump({ last: false });
      expect(new OutputStore(folder).read(all).map(({ seq, message }) => [seq, message])).toEqual([
        [1, "one"],
        [2, "two"],
        [3, "three"],
        [4, "four"],
      ]);
    }
  });

  test("pump() bounds what is on the disk, and continues the numbers", async () => {
    const pump = new OutputPump(folder);
    const lines = 400_000;
    const text = `${"x".repeat(90)}\n`.repeat(lines / 20);
    for (let round = 0; round < 20; round++) {
      print(text);
      await pump.pump({ last: false });
    }
    const { blocks: raw } = statSync(join(folder, "stdout"));
    const kept = statSync(join(folder, "lines")).blocks + statSync(join(folder, "lines.old")).blocks;
    expect(raw * 512).toBeLessThan(3_000_000);
    expect(kept * 512).toBeLessThan(20_000_000);
    const store = new OutputStore(folder);
    const [note, ...found] = store.read(all);
    expect(note).toEqual({
      seq: found[0]!.seq - 1,
      at: expect.any(Date),
      stream: "slipway",
      message: `[${found[0]!.seq - 1} lines of output left out: only the newest are kept]`,
    });
    expect(store.read({ since: 5, limit: 1 })[0]!.message).toStartWith(
      `[${found[0]!.seq - 6} lines of output left out`,
    );
    expect(store.read({ since: note!.seq, limit: 1 })).toEqual(found.slice(0, 1));
    expect(store.read({ since: 0, limit: 1, from: found[0]!.at })).toEqual(found.slice(0, 1));
    expect(found.at(-1)?.seq).toBe(lines);
    expect(found.length).toBeGreaterThan(50_000);
    expect(found.every(({ seq }, index) => seq === found[0]!.seq + index)).toBe(true);
    for (const since of [0, found[0]!.seq + 3, lines - 30_000, lines - 5, lines]) {
      const page = store.read({ since, limit: 4 }).map(({ seq }) => seq);
      const start = Math.max(since + 1, note!.seq);
      expect([since, page]).toEqual([since, [0, 1, 2, 3].map((add) => start + add).filter((seq) => seq <= lines)]);
    }
  });

  test("read() ends with the line that exceeds the characters, and continues after it", async () => {
    const pump = new OutputPump(folder);
    print("12345\n67890\nx\ny\n");
    await pump.pump({ last: true });
    const store = new OutputStore(folder);
    const read = (since: number) => store.read({ since, limit: 3 }, 6).map(({ message }) => message);
    expect([read(0), read(1), read(4)]).toEqual([["12345", "67890"], ["67890", "x"], []]);
  });

  test("pump() drops output that a program prints faster than it can be kept, and logs how much", async () => {
    const pump = new OutputPump(folder);
    const sparse = await open(join(folder, "stdout"), "w");
    await sparse.truncate(100_000_000);
    await sparse.close();
    print("\nafter\n");
    await pump.pump({ last: false });
    const lines = messages();
    expect(lines[0]).toMatch(/^\[\d+ bytes of output left out: too much at once\]$/);
    expect(new OutputStore(folder).read(all)[0]!.stream).toBe("slipway");
    expect(lines.at(-1)).toBe("after");
    expect(statSync(join(folder, "lines")).size).toBeLessThan(1_000_000);
  });

  test("pump() continues when the program truncates its own output", async () => {
    const pump = new OutputPump(folder);
    print("a long first line\n");
    await pump.pump({ last: false });
    writeFileSync(join(folder, "stdout"), "new\n");
    await pump.pump({ last: false });
    expect(messages()).toEqual(["a long first line", "new"]);
  });
});

describe("afterEnding()", () => {
  test("waits twice as long each time, at most a minute, without a limit of attempts", () => {
    let endings: readonly number[] = [];
    const pauses = Array.from({ length: 40 }, (_, round) => {
      const next = afterEnding({ endings, upMs: 5_000, at: round * 1_000 });
      endings = next.endings;
      return next.pauseMs;
    });
    expect(pauses.slice(0, 11)).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 60_000, 60_000]);
    expect(pauses.at(-1)).toBe(60_000);
  });

  test("reports a crash loop from the fifth end in a row on", () => {
    expect([4, 5, 20].map((count) => isCrashLoop(Array.from({ length: count }, () => 0)))).toEqual([false, true, true]);
  });

  test("starts over after a run of ten seconds", () => {
    const next = afterEnding({ endings: [0, 1, 2, 3], upMs: 10_000, at: 12_000 });
    expect(next).toEqual({ endings: [], pauseMs: 200 });
  });
});
