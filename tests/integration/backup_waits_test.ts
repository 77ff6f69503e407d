import { describe, expect, test } from "bun:test";
import { MemoryObjectStorage } from "../../adapters/memory/object_storage.ts";
import { limited } from "../../application/backups/storage/limited.ts";
import { prefixed } from "../../application/backups/storage/prefixed.ts";
import { retrying } from "../../application/backups/storage/retrying.ts";
import { timed } from "../../application/backups/storage/timed.ts";
import { Failure } from "../../domain/failure.ts";
import type { ObjectStorage } from "../../ports/backups/object_storage.ts";
import { objectStorageContract } from "../contracts/object_storage.ts";
import { brokenBody, textBody, textOf } from "../support/inputs/bodies.ts";
import { failing } from "../support/faults/failing.ts";
import { intercepted } from "../support/faults/intercepted.ts";

const PATIENCE = { attempts: 3, pauseMs: 1 };
const away = new Failure("remote_failed", "unreachable", "Cannot connect");

function decorated(storage: ObjectStorage): ObjectStorage {
  return limited(retrying(timed(prefixed(storage, "p"), 10_000), PATIENCE), 100);
}

objectStorageContract("memory behind every decorator", async () => {
  const memory = new MemoryObjectStorage();
  return {
    storage: { ...decorated(memory), hostKey: null, async [Symbol.asyncDispose]() {} },
    raw: async () => [...memory.objects.keys(), ...memory.left.keys()].map((key) => key.slice("p/".length)),
    abandon: async (key) => void memory.left.set(`p/${key}`, new Date()),
    async [Symbol.asyncDispose]() {},
  };
});

describe("retrying()", () => {
  test.each(["get", "stat", "list", "remove", "unfinished", "discard", "sweep", "put"] as const)(
    "%s() is retried, and fails in the end",
    async (method) => {
      const call = (storage: ObjectStorage) =>
        method === "put"
          ? storage.put("x", textBody("x"))
          : (storage[method]("x", { before: new Date() }) as Promise<unknown>);
      const flaky = retrying(
        failing<ObjectStorage>(new MemoryObjectStorage(), method, { times: 2, error: away }),
        PATIENCE,
      );
      await call(flaky);
      const dead = retrying(
        failing<ObjectStorage>(new MemoryObjectStorage(), method, { times: 3, error: away }),
        PATIENCE,
      );
      await expect(call(dead)).rejects.toBe(away);
    },
  );

  test("does not retry permanent failures, nor a source that was read from", async () => {
    const denied = new Failure("remote_failed", "permission_denied", "No");
    const refused = retrying(
      failing<ObjectStorage>(new MemoryObjectStorage(), "get", { times: 1, error: denied }),
      PATIENCE,
    );
    await expect(refused.get("x")).rejects.toBe(denied);
    const memory = new MemoryObjectStorage();
    let calls = 0;
    const halfway: ObjectStorage = Object.assign(Object.create(memory), {
      async put(_key: string, content: ReadableStream<Uint8Array>) {
        calls++;
        const reader = content.getReader();
        await reader.read();
        throw away;
      },
    });
    await expect(retrying(halfway, PATIENCE).put("x", textBody("x"))).rejects.toBe(away);
    expect(calls).toBe(1);
  });

  test("stops when its signal is aborted", async () => {
    const stop = new AbortController();
    const flaky = failing<ObjectStorage>(new MemoryObjectStorage(), "stat", { error: away });
    const pending = retrying(flaky, { attempts: 10, pauseMs: 60_000 }).stat("x", { signal: stop.signal });
    pending.catch(() => {});
    await Bun.sleep(5);
    const reason = new Error("Enough");
    stop.abort(reason);
    await expect(pending).rejects.toBe(reason);
  });
});

/** A storage with one method that hangs until it is aborted. */
function hanging(method: keyof ObjectStorage): ObjectStorage {
  return intercepted<ObjectStorage>(new MemoryObjectStorage(), method, (_goOn, given) => {
    const { signal } = given.at(-1) as { signal: AbortSignal };
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
}

describe("timed()", () => {
  test.each(["get", "stat", "list", "remove"] as const)("%s() without a response ends with timeout", async (method) => {
    const pending = timed(hanging(method), 20)[method]("x") as Promise<unknown>;
    await expect(pending).rejects.toMatchObject({ code: "timeout" });
  });

  test("put() ends with timeout when the store stops reading, not when the source is slow", async () => {
    await expect(timed(hanging("put"), 20).put("x", textBody("x"))).rejects.toMatchObject({ code: "timeout" });
    let given = 0;
    const slow = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (given === 1) await Bun.sleep(2_500);
        if (given++ === 3) controller.close();
        else controller.enqueue(new Uint8Array([65]));
      },
    });
    const memory = new MemoryObjectStorage();
    expect(await timed(memory, 1_500).put("x", slow)).toBe(3);
    expect(await textOf(await timed(memory, 1_500).get("x"))).toBe("AAA");
  });

  test("get() ends its stream with timeout when the store stops sending", async () => {
    const silent = Object.assign(Object.create(new MemoryObjectStorage()), {
      async get(_key: string, { signal }: { signal: AbortSignal }) {
        const reader = brokenBody(10, "hangs").getReader();
        return new ReadableStream<Uint8Array>(
          {
            async pull(controller) {
              const aborted = new Promise<never>((_, reject) =>
                signal.addEventListener("abort", () => reject(signal.reason)),
              );
              const { value } = await Promise.race([reader.read(), aborted]);
              controller.enqueue(value!);
            },
          },
          { highWaterMark: 0 },
        );
      },
    }) as ObjectStorage;
    const reader = (await timed(silent, 1_000).get("x"))!.getReader();
    expect((await reader.read()).value?.length).toBe(10);
    await expect(reader.read()).rejects.toMatchObject({ code: "timeout" });
  });
});

describe("limited()", () => {
  test("runs no more than the limit at once, and lets queued operations be aborted", async () => {
    let [running, most] = [0, 0];
    const slow = intercepted<ObjectStorage>(new MemoryObjectStorage(), "stat", async (goOn) => {
      most = Math.max(most, ++running);
      await Bun.sleep(2);
      running--;
      return goOn();
    });
    const storage = limited(slow, 3);
    await Promise.all(Array.from({ length: 20 }, () => storage.stat("x")));
    expect(most).toBe(3);
    const one = limited(new MemoryObjectStorage(), 1);
    await one.put("x", textBody("x"));
    const stream = await one.get("x");
    const stop = new AbortController();
    const waiting = one.stat("x", { signal: stop.signal });
    waiting.catch(() => {});
    stop.abort(new Error("Left"));
    await expect(waiting).rejects.toThrow("Left");
    const next = one.stat("x");
    expect(await textOf(stream)).toBe("x");
    expect(await next).toMatchObject({ bytes: 1 });
  });

  test("an operation that is aborted in the moment it gets its slot takes no other's", async () => {
    const one = limited(new MemoryObjectStorage(), 1);
    await one.put("x", textBody("x"));
    const stream = (await one.get("x"))!;
    const stop = new AbortController();
    const leaving = one.stat("x", { signal: stop.signal }).catch(() => {});
    const next = one.stat("x");
    const cancelled = stream.cancel();
    stop.abort(new Error("Left"));
    await Promise.all([cancelled, leaving]);
    expect(await next).toMatchObject({ bytes: 1 });
  });
});
