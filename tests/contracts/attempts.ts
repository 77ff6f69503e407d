import { describe, expect, test } from "bun:test";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { uniqueLabel } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;
/** Windows so long that the duration of a test does not matter. */
const LIMIT = { limit: 3, windowMs: HOUR };

/** Contract tests for `Attempts` adapters. */
export function attemptsContract(name: string, open: () => Promise<WorldOf<"attempts" | "elapse">>) {
  describe(`Attempts contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function take(key: string): Promise<number> {
      return world().attempts.take(key, LIMIT);
    }

    async function exhaust(key: string): Promise<void> {
      for (let index = 0; index < LIMIT.limit; index++) expect(await take(key)).toBe(0);
    }

    /** Expects a wait of at most `minutes`; the test itself may have used up to two of them. */
    async function expectWait(key: string, minutes: number): Promise<void> {
      const seconds = await take(key);
      expect(seconds).toBeInteger();
      expect(seconds).toBeLessThanOrEqual(minutes * 60);
      expect(seconds).toBeGreaterThan(minutes * 60 - 120);
    }

    test("take() allows as many attempts as the limit, then returns how long to wait", async () => {
      const key = uniqueLabel();
      await exhaust(key);
      await expectWait(key, 60);
      await world().elapse(20 * MINUTE);
      await expectWait(key, 40);
    });

    test("take() returns waits in whole seconds", async () => {
      const key = uniqueLabel();
      const short = { limit: 1, windowMs: 2_000 };
      expect(await world().attempts.take(key, short)).toBe(0);
      const waits = await Promise.all(Array.from({ length: 5 }, () => world().attempts.take(key, short)));
      // If this took longer than the window, a new window has started.
      for (const wait of waits) expect([0, 1, 2]).toContain(wait);
    });

    test("take() beyond the limit does not lengthen the wait", async () => {
      const key = uniqueLabel();
      await exhaust(key);
      await world().elapse(30 * MINUTE);
      for (let index = 0; index < 20; index++) await take(key);
      await world().elapse(10 * MINUTE);
      await expectWait(key, 20);
      await world().elapse(20 * MINUTE);
      expect(await take(key)).toBe(0);
    });

    test("take() starts counting again in the next window", async () => {
      const key = uniqueLabel();
      await exhaust(key);
      await world().elapse(HOUR);
      await exhaust(key);
      await expectWait(key, 60);
    });

    test("take() counts every key separately", async () => {
      const label = uniqueLabel();
      const keys = oddTexts.map((text) => `${text} ${label}`);
      for (const key of keys) await exhaust(key);
      for (const key of keys) await expectWait(key, 60);
    });

    test("take() allows no more than the limit when called concurrently", async () => {
      const key = uniqueLabel();
      const limit = { limit: 7, windowMs: HOUR };
      const waits = await Promise.all(Array.from({ length: 20 }, () => world().attempts.take(key, limit)));
      expect(waits.filter((wait) => wait === 0)).toHaveLength(7);
    });

    test("giveBack() makes room for one more", async () => {
      const key = uniqueLabel();
      await exhaust(key);
      await world().attempts.giveBack(key, LIMIT);
      expect(await take(key)).toBe(0);
      await expectWait(key, 60);
    });

    test("giveBack() makes room after refused attempts too, which do not count", async () => {
      const key = uniqueLabel();
      await exhaust(key);
      for (let index = 0; index < 5; index++) await take(key);
      await world().attempts.giveBack(key, LIMIT);
      expect(await take(key)).toBe(0);
    });

    test("giveBack() never allows more than the limit", async () => {
      const key = uniqueLabel();
      for (let index = 0; index < 5; index++) await world().attempts.giveBack(key, LIMIT);
      await take(key);
      for (let index = 0; index < 5; index++) await world().attempts.giveBack(key, LIMIT);
      await exhaust(key);
      await expectWait(key, 60);
    });

    test("giveBack() counts every concurrent call", async () => {
      const key = uniqueLabel();
      await exhaust(key);
      await Promise.all([1, 2, 3].map(() => world().attempts.giveBack(key, LIMIT)));
      await exhaust(key);
    });

    test("sweep() removes windows that ended before the given age, and counts them", async () => {
      const { attempts, elapse } = world();
      await elapse(3 * HOUR);
      await attempts.sweep(HOUR);
      const keys = [uniqueLabel(), uniqueLabel(), uniqueLabel()] as const;
      await take(keys[0]);
      await take(keys[1]);
      await elapse(HOUR + 30 * MINUTE);
      await exhaust(keys[2]);
      expect(await attempts.sweep(HOUR)).toBe(0);
      await elapse(45 * MINUTE);
      expect(await attempts.sweep(HOUR)).toBe(2);
      expect(await attempts.sweep(HOUR)).toBe(0);
      await expectWait(keys[2], 15);
    });
  });
}
