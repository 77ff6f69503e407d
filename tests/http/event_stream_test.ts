import { describe, expect, test } from "bun:test";
import { eventStream, type FeedEvent } from "../../http/event_stream.ts";

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read">;

const decoder = new TextDecoder();

function complain(error: unknown): never {
  throw error;
}

async function* batchesOf(...batches: FeedEvent[][]): AsyncGenerator<FeedEvent[]> {
  yield* batches;
}

function event(id: number, data: unknown = {}): FeedEvent {
  return { id, event: "log", data };
}

async function next(reader: Reader): Promise<string | undefined> {
  const { value, done } = await reader.read();
  return done ? undefined : decoder.decode(value);
}

describe("eventStream()", () => {
  test("opens with a comment, sends each event with its number, name and one line of data, and closes", async () => {
    const message = 'two\nlines, \r "quotes" and ü\u2028';
    const response = eventStream(batchesOf([event(1, { message }), event(2)], [event(3)]), { report: complain });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.text()).toBe(
      `: open\n\nid: 1\nevent: log\ndata: ${JSON.stringify({ message })}\n\nid: 2\nevent: log\ndata: {}\n\nid: 3\nevent: log\ndata: {}\n\n`,
    );
  });

  test("sends a heartbeat comment while nothing happens", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    async function* source() {
      await promise;
      yield [event(1)];
    }
    const reader = eventStream(source(), { heartbeatMs: 5, report: complain }).body!.getReader();
    expect(await next(reader)).toBe(": open\n\n");
    expect(await next(reader)).toBe(": beat\n\n");
    expect(await next(reader)).toBe(": beat\n\n");
    resolve();
    const rest: string[] = [];
    for (let text = await next(reader); text !== undefined; text = await next(reader)) rest.push(text);
    expect(rest.filter((text) => text !== ": beat\n\n")).toEqual(["id: 1\nevent: log\ndata: {}\n\n"]);
  });

  test("reads no more than the client consumes, and queues no heartbeats", async () => {
    let produced = 0;
    async function* endless() {
      for (;;) yield [event(++produced)];
    }
    const stream = eventStream(endless(), { heartbeatMs: 1, report: complain });
    const reader = stream.body!.getReader();
    await next(reader);
    await next(reader);
    await Bun.sleep(20);
    expect(produced).toBeLessThanOrEqual(3);
    for (let count = 0; count < 5; count++) expect(await next(reader)).toStartWith("id: ");
    await reader.cancel();
    const last = produced;
    await Bun.sleep(5);
    expect(produced).toBe(last);
  });

  test("ends the source when the client disconnects, even while it waits for an event", async () => {
    const left = new AbortController();
    const ended = Promise.withResolvers<string>();
    async function* source() {
      try {
        yield [event(1)];
        await new Promise<void>((resolve) => left.signal.addEventListener("abort", () => resolve()));
      } finally {
        ended.resolve("ended");
      }
    }
    const response = eventStream(source(), { report: complain, onLeave: () => left.abort() });
    const reader = response.body!.getReader();
    await next(reader);
    await next(reader);
    const waiting = reader.read();
    await reader.cancel();
    expect(await ended.promise).toBe("ended");
    expect((await waiting).done).toBe(true);
  });

  test("starts nothing for a response that is not read", async () => {
    let started = false;
    async function* source() {
      started = true;
      yield [event(1)];
    }
    eventStream(source(), { heartbeatMs: 1, report: complain });
    await Bun.sleep(5);
    expect(started).toBe(false);
  });

  test("reports errors of the source, and only closes towards the client", async () => {
    const reported: unknown[] = [];
    const broken = new Error("Broken on purpose");
    async function* source() {
      yield [event(1)];
      throw broken;
    }
    const text = await eventStream(source(), { report: (error) => reported.push(error) }).text();
    expect(text).toBe(": open\n\nid: 1\nevent: log\ndata: {}\n\n");
    expect(reported).toEqual([broken]);
  });
});
