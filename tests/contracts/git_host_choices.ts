import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { anOrganization } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

/** Contract tests for `GitHostChoices` adapters. */
export function gitHostChoicesContract(
  name: string,
  open: () => Promise<WorldOf<"gitHostChoices" | "installation" | "organizations">>,
) {
  describe(`GitHostChoices contract: ${name}`, () => {
    const world = sharedWorld(open);

    test("the command-line client is on until an organization turns it off, for that organization alone", async () => {
      const [{ id }, { id: other }] = [await anOrganization(world()), await anOrganization(world())];
      expect(await world().gitHostChoices.isCommandLineOff(id)).toBe(false);
      expect(await world().gitHostChoices.isCommandLineOff(newId("org"))).toBe(false);
      for (const off of [false, true, true, false, true]) {
        await world().gitHostChoices.setCommandLineOff(id, off);
        expect(await world().gitHostChoices.isCommandLineOff(id)).toBe(off);
        expect(await world().gitHostChoices.isCommandLineOff(other)).toBe(false);
      }
    });
  });
}
