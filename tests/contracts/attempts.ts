import { describe, expect, test } from "bun:test";
import { oddTexts } from "../support/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { START, uniqueLabel } from "../support/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const LIMIT = { limit: 3, windowMs: 60_000 };
/** A full minute, so that windows on the minute and windows from the first attempt are the same. */
const MINUTE = START;

function seconds(count: number): Date {
  return new Date(MINUTE.getTime() + count * 1_000);
}

/** What every `Attempts` adapter promises. */
export function attemptsContract(name: string, open: () => Promise<WorldOf<"attempts">>) {
  describe(`Attempts contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function exhaust(key: string): Promise<void> {
      for (let index = 0; index < LIMIT.limit; index++) {
        expect(await world().attempts.take(key, LIMIT, MINUTE)).toBe(0);
      }
    }

    test("take() lets as many through as the limit says, then tells how long to wait", async () => {
      const key = uniqueLabel();
      await exhaust(key);
      expect(await world().attempts.take(key, LIMIT, MINUTE)).toBe(60);
      expect(await world().attempts.take(key, LIMIT, seconds(20))).toBe(40);
    });

    test("take() never tells to wait no time", async () => {
      const key = uniqueLabel();
      await exhaust(key);
      expect(await world().attempts.take(key, LIMIT, seconds(59.9))).toBe(1);
    });

    test("take() beyond the limit does not lengthen the wait", async () => {
      const key = uniqueLabel();
      await exhaust(key);
      for (let index = 0; index < 20; index++) await world().attempts.take(key, LIMIT, seconds(30));
      expect(await world().attempts.take(key, LIMIT, seconds(50))).toBe(10);
      expect(await world().attempts.take(key, LIMIT, seconds(60))).toBe(0);
    });

    test("take() counts from nothing in the next window", async () => {
      const key = uniqueLabel();
      await exhaust(key);
      for (const expected of [0, 0, 0, 60]) {
        expect(await world().attempts.take(key, LIMIT, seconds(60))).toBe(expected);
      }
    });

    test("take() counts every key for itself", async () => {
      const label = uniqueLabel();
      const keys = oddTexts.map((text) => `${text} ${label}`);
      for (const key of keys) await exhaust(key);
      for (const key of keys) expect(await world().attempts.take(key, LIMIT, MINUTE)).toBe(60);
    });

    test("take() lets no more through when many come at once", async () => {
      const key = uniqueLabel();
      const waits = await Promise.all(
        Array.from({ length: 20 }, () => world().attempts.take(key, { limit: 7, windowMs: 60_000 }, MINUTE)),
      );
      expect(waits.filter((wait) => wait === 0)).toHaveLength(7);
    });

    test("giveBack() makes room for one more", async () => {
      const key = uniqueLabel();
      await exhaust(key);
      await world().attempts.giveBack(key, LIMIT, MINUTE);
      expect(await world().attempts.take(key, LIMIT, seconds(1))).toBe(0);
      expect(await world().attempts.take(key, LIMIT, seconds(1))).toBe(59);
    });

    test("giveBack() makes room after refused attempts too, which were none", async () => {
      const key = uniqueLabel();
      await exhaust(key);
      for (let index = 0; index < 5; index++) await world().attempts.take(key, LIMIT, MINUTE);
      await world().attempts.giveBack(key, LIMIT, MINUTE);
      expect(await world().attempts.take(key, LIMIT, MINUTE)).toBe(0);
    });

    test("giveBack() never gives more than the limit", async () => {
      const key = uniqueLabel();
      for (let index = 0; index < 5; index++) await world().attempts.giveBack(key, LIMIT, MINUTE);
      await world().attempts.take(key, LIMIT, MINUTE);
      for (let index = 0; index < 5; index++) await world().attempts.giveBack(key, LIMIT, MINUTE);
      await exhaust(key);
      expect(await world().attempts.take(key, LIMIT, MINUTE)).toBe(60);
    });

    test("giveBack() of attempts at once counts each", async () => {
      const key = uniqueLabel();
      await exhaust(key);
      await Promise.all([1, 2, 3].map(() => world().attempts.giveBack(key, LIMIT, MINUTE)));
      await exhaust(key);
    });

    test("sweep() forgets windows that ended before a time, and counts them", async () => {
      const longAgo = new Date("1985-01-01T00:00:00.000Z");
      const { attempts } = world();
      await attempts.sweep(longAgo);
      const keys = [uniqueLabel(), uniqueLabel(), uniqueLabel()] as const;
      const before = new Date(longAgo.getTime() - 120_000);
      await attempts.take(keys[0], LIMIT, before);
      await attempts.take(keys[1], LIMIT, before);
      for (let index = 0; index < LIMIT.limit; index++) await attempts.take(keys[2], LIMIT, longAgo);
      expect(await attempts.sweep(longAgo)).toBe(2);
      expect(await attempts.sweep(longAgo)).toBe(0);
      expect(await attempts.take(keys[2], LIMIT, longAgo)).toBe(60);
    });
  });
}
