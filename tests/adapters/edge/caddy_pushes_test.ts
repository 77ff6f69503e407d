import { describe, expect, test } from "bun:test";
import { CaddyPushes } from "../../../adapters/edge/caddy/caddy_pushes.ts";
import { Failure } from "../../../domain/failure.ts";

const AWAY = new Failure("unavailable", "caddy_away", "Away");

/** A list of words as the state; `answer` decides about each push. */
function pushing(answer: (words: readonly string[]) => Promise<void> = async () => {}, waitMs = 60_000) {
  const pushed: (readonly string[])[] = [];
  const troubles: unknown[] = [];
  const pushes = new CaddyPushes<readonly string[]>([], {
    waitMs,
    notServed: (error) => void troubles.push(error),
    async push(words) {
      pushed.push(words);
      await answer(words);
    },
  });
  const add = (word: string) => pushes.change((words) => [...words, word]);
  return { pushes, pushed, troubles, add };
}

describe("CaddyPushes", () => {
  test("share a push between changes that wait, one push at a time", async () => {
    const first = Promise.withResolvers<void>();
    const { add, pushed } = pushing((words) => (words.length === 1 ? first.promise : Promise.resolve()));
    const all = Promise.all(["a", "b", "c"].map(add));
    expect(pushed).toEqual([["a"]]);
    first.resolve();
    await all;
    expect(pushed).toEqual([["a"], ["a", "b", "c"]]);
  });

  test("lose no change that is made as soon as another one is done", async () => {
    const { add, pushes } = pushing();
    for (const word of ["a", "b", "c", "d"]) await add(word);
    expect(pushes.state).toEqual(["a", "b", "c", "d"]);
    await pushes.ended();
    expect(pushes.isBusy).toBe(false);
  });

  test("drop only the change that is refused", async () => {
    const { add, pushes, troubles } = pushing(async (words) => {
      if (words.includes("bad")) throw new Error("Refused");
    });
    await add("a");
    const outcomes = await Promise.allSettled(["b", "bad", "c"].map(add));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(pushes.state).toEqual(["a", "b", "c"]);
    expect(troubles).toEqual([]);
  });

  test("keep what is refused while nothing was accepted yet", async () => {
    let isRefused = true;
    const { add, pushes, troubles } = pushing(async () => {
      if (isRefused) throw new Error("Port in use");
    });
    await expect(add("a")).rejects.toThrow("Port in use");
    expect(troubles).toHaveLength(1);
    isRefused = false;
    await add("b");
    expect(pushes.state).toEqual(["a", "b"]);
  });

  test("keep changes while Caddy is away, and tell those who have waited long enough", async () => {
    let isAway = true;
    const { add, pushed, pushes, troubles } = pushing(async () => {
      if (isAway) throw AWAY;
    }, 0);
    await expect(add("a")).rejects.toThrow("Away");
    await expect(add("b")).rejects.toThrow("Away");
    expect(troubles).toEqual([AWAY, AWAY]);
    isAway = false;
    await pushes.change((words) => words);
    expect(pushed.at(-1)).toEqual(["a", "b"]);
  });

  test("wait for a Caddy that has answered before", async () => {
    let left = 0;
    const { add, pushed } = pushing(async () => {
      if (left-- > 0) throw AWAY;
    });
    await add("a");
    left = 1;
    await add("b");
    expect(pushed).toEqual([["a"], ["a", "b"], ["a", "b"]]);
  });
});
