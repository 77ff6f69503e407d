import { emptyEngine } from "./empty_engine.ts";

/** The label of everything that tests create in Docker. */
export const TEST_LABEL = "slipway.test";

/** Removes containers, networks and volumes that tests have left in Docker. */
export function removeTestLeftovers(host: string): Promise<void> {
  return emptyEngine(host, { label: TEST_LABEL });
}
