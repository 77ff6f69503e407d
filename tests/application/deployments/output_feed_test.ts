import { describe, expect, test } from "bun:test";
import {
  type LogEvent,
  type PollResult,
  OutputFeed,
  withinCharacters,
} from "../../../application/services/output_feed.ts";
import { Failure } from "../../../domain/failure.ts";

const OPTIONS = { pauseMs: { least: 1, most: 5 }, keptCharacters: 2_000 };
const NEVER = new AbortController().signal;

function line(seq: number, message = `line ${seq}`): LogEvent {
  return { type: "log", seq, at: new Date(seq), level: "info", step: null, service: "app", stream: "stdout", message };
}

const numbers = (lines: readonly LogEvent[]) => lines.map(({ seq }) => seq);

/** A log that grows, and counts its reads. */
class GrowingLog {
  readonly lines: LogEvent[] = [];
  end: PollResult["end"];
  looks = 0;
  fails: unknown;

  grow(count: number): void {
    for (let index = 0; index < count; index++) this.lines.push(line(this.lines.length + 1));
  }

  readonly look = async (since: number): Promise<PollResult> => {
    this.looks++;
    if (this.fails) throw this.fails;
    const lines = this.lines.filter(({ seq }) => seq > since).slice(0, 3);
    const again = lines.length === 0 ? "later" : "now";
    return { lines, again, ...(lines.length === 0 && this.end !== undefined && { end: this.end }) };
  };
}

/** Reads until there are `count` lines. */
async function taken(feed: OutputFeed, after: number, count: number): Promise<number[]> {
  const all: number[] = [];
  for (let at = after; all.length < count; at = all.at(-1)!) {
    const received = await feed.next(at, NEVER);
    if (!Array.isArray(received)) throw new Error(`It received ${JSON.stringify(received)} after ${at}`);
    all.push(...numbers(received));
  }
  return all;
}

describe("OutputFeed", () => {
  test("delivers each line once, in order, to every follower, from shared reads and lists", async () => {
    const log = new GrowingLog();
    const feed = new OutputFeed(log.look, 0, OPTIONS);
    for (let follower = 0; follower < 50; follower++) feed.join();
    log.grow(5);
    const all = await Promise.all(Array.from({ length: 50 }, () => taken(feed, 0, 5)));
    for (const seen of all) expect(seen).toEqual([1, 2, 3, 4, 5]);
    expect(await taken(feed, 2, 3)).toEqual([3, 4, 5]);
    const [first, second] = await Promise.all([feed.next(0, NEVER), feed.next(0, NEVER)]);
    expect(first).toBe(second);
    for (let follower = 0; follower < 50; follower++) expect(feed.leave()).toBe(follower < 49);
  });

  test("keeps no more than its limit, and reports followers that are behind", async () => {
    const log = new GrowingLog();
    const feed = new OutputFeed(log.look, 0, OPTIONS);
    feed.join();
    log.grow(1_000);
    let at = 0;
    while (at < 1_000) {
      const received = await feed.next(at, NEVER);
      if (received === "behind") {
        // As a reader of the stored log would.
        at++;
        continue;
      }
      at = (received as readonly LogEvent[]).at(-1)!.seq;
    }
    expect(await feed.next(0, NEVER)).toBe("behind");
    feed.leave();
  });

  test("restarts at the position of a follower that was behind and found nothing stored", async () => {
    const log = new GrowingLog();
    const feed = new OutputFeed(log.look, 1_000_000, OPTIONS);
    feed.join();
    expect(await feed.next(2, NEVER)).toBe("behind");
    log.grow(2);
    feed.rewind(2);
    log.grow(2);
    expect(await taken(feed, 2, 2)).toEqual([3, 4]);
    feed.leave();
  });

  test("delivers the end after the last line, and again after a rewind", async () => {
    const log = new GrowingLog();
    log.grow(4);
    log.end = "gone";
    const feed = new OutputFeed(log.look, 2, OPTIONS);
    feed.join();
    expect(await taken(feed, 2, 2)).toEqual([3, 4]);
    expect(await feed.next(4, NEVER)).toEqual({ end: "gone" });
    feed.rewind(0);
    expect(await taken(feed, 0, 4)).toEqual([1, 2, 3, 4]);
    expect(await feed.next(4, NEVER)).toEqual({ end: "gone" });
    feed.leave();
  });

  test("retries while an engine is unavailable, and passes bugs on", async () => {
    const log = new GrowingLog();
    log.fails = new Failure("unavailable", "engine_away", "Cannot use Docker: nothing answers there");
    const feed = new OutputFeed(log.look, 0, OPTIONS);
    feed.join();
    const received = taken(feed, 0, 1);
    while (log.looks < 3) await Bun.sleep(1);
    log.fails = undefined;
    log.grow(1);
    expect(await received).toEqual([1]);
    log.fails = new Error("a bug");
    await expect(feed.next(1, NEVER)).rejects.toThrow("a bug");
    feed.leave();
  });

  test("releases a follower that leaves, and stops reading after the last one left", async () => {
    const log = new GrowingLog();
    const feed = new OutputFeed(log.look, 0, OPTIONS);
    feed.join();
    const left = new AbortController();
    const received = feed.next(0, left.signal);
    left.abort();
    expect(await received).toEqual([]);
    feed.leave();
    await Bun.sleep(20);
    const { looks } = log;
    await Bun.sleep(50);
    expect(log.looks).toBe(looks);
  });
});

test("withinCharacters() returns the first lines that fit, and one at least", () => {
  const lines = [line(1, "x".repeat(500)), line(2, "x".repeat(500)), line(3, "x".repeat(500))];
  expect(numbers(withinCharacters(lines, 10))).toEqual([1]);
  expect(numbers(withinCharacters(lines, 1_400))).toEqual([1, 2]);
  expect(withinCharacters(lines, 10_000)).toBe(lines);
});
