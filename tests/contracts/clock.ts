import { describe, expect, test } from "bun:test";
import type { Clock } from "../../ports/system/clock.ts";

/** Contract tests for `Clock` adapters. */
export function clockContract(name: string, open: () => Promise<Clock>) {
  describe(`Clock contract: ${name}`, () => {
    test("now() returns a time", async () => {
      expect(Number.isInteger((await open()).now().getTime())).toBe(true);
    });

    test("now() returns a new object each time", async () => {
      const clock = await open();
      const first = clock.now();
      const before = first.getTime();
      first.setFullYear(1970);
      expect(clock.now().getTime()).toBeGreaterThanOrEqual(before);
    });
  });
}
