import { describe, expect, test } from "bun:test";
import type { ContainerEngine } from "../../ports/deployments/container_engine.ts";

/** A running engine and a stopped one. */
export interface EnginesForContract {
  readonly running: ContainerEngine;
  readonly stopped: ContainerEngine;
}

/** Contract tests for `ContainerEngine` adapters. */
export function containerEngineContract(name: string, open: () => Promise<EnginesForContract>) {
  describe(`ContainerEngine contract: ${name}`, () => {
    test("answers() distinguishes a running engine from a stopped one", async () => {
      const { running, stopped } = await open();
      expect(await running.answers()).toBe(true);
      expect(await stopped.answers()).toBe(false);
    });
  });
}
