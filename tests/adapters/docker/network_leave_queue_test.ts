import { describe, expect, test } from "bun:test";
import { NetworkLeaveQueue } from "../../../adapters/docker/containers/network_leave_queue.ts";

/** Records which departures have started, and ends each on demand. */
class Leaving {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();

  begin(name: string): () => Promise<void> {
    const end = Promise.withResolvers<void>();
    this.#ends.set(name, end);
    return () => {
      this.begun.push(name);
      return end.promise;
    };
  }

  end(name: string): void {
    this.#ends.get(name)!.resolve();
  }

  fail(name: string): void {
    this.#ends.get(name)!.reject(new Error(`${name} stays`));
  }
}

describe("NetworkLeaveQueue", () => {
  test("runs the tasks of one scope one after the other, in order", async () => {
    const departures = new NetworkLeaveQueue();
    const order: string[] = [];
    const leave = (name: string) => async () => {
      order.push(`${name} leaves`);
      await Promise.resolve();
      order.push(`${name} is gone`);
    };
    await Promise.all(["a", "b", "c"].map((name) => departures.run("shop", leave(name))));
    expect(order).toEqual(["a leaves", "a is gone", "b leaves", "b is gone", "c leaves", "c is gone"]);
  });

  test("does not make other scopes wait", async () => {
    const departures = new NetworkLeaveQueue();
    const leaving = new Leaving();
    const held = departures.run("shop", leaving.begin("a"));
    await departures.run("blog", async () => {});
    expect(leaving.begun).toEqual(["a"]);
    leaving.end("a");
    await held;
  });

  test("starts the next task after a while when one takes too long", async () => {
    const departures = new NetworkLeaveQueue();
    const leaving = new Leaving();
    const slow = departures.run("shop", leaving.begin("slow"));
    await departures.run("shop", async () => {});
    leaving.end("slow");
    await slow;
  });

  test("continues after a failed task, and rejects with its error", async () => {
    const departures = new NetworkLeaveQueue();
    const leaving = new Leaving();
    const failed = departures.run("shop", leaving.begin("a"));
    const next = departures.run("shop", async () => "gone");
    leaving.fail("a");
    await expect(failed).rejects.toThrow("a stays");
    expect(await next).toBe("gone");
  });
});
