import { describe, expect, test } from "bun:test";
import { sharedWorld } from "../support/shared_world.ts";
import type { WorldOf } from "./store_world.ts";

/** Contract tests for `ServiceHealth` adapters while all parts are up. */
export function serviceHealthContract(name: string, open: () => Promise<WorldOf<"serviceHealth">>) {
  describe(`ServiceHealth contract: ${name}`, () => {
    const world = sharedWorld(open);

    test("databaseAnswers() is true while the database answers", async () => {
      expect(await world().serviceHealth.databaseAnswers()).toBe(true);
    });
  });
}
