import { emptyEngine } from "./empty_engine.ts";

/** The label that everything made by a test in Docker carries. */
export const TEST_LABEL = "slipway.test";

/** Removes containers, networks and volumes that tests have left in Docker. */
export function removeTestLeftovers(host: string): Promise<void> {
  return emptyEngine(host, { label: TEST_LABEL });
}
