import type { FoundContainer } from "./inventory.ts";

/**
 * Returns whether a container looks like a job that ran to its end, such as a migration of a database: it succeeded, and
 * its engine does not start it again. Running such a job once more could do harm; leaving a stopped service alone
 * cannot.
 */
export function isFinishedJob({
  exitCode,
  restart,
  state,
}: Pick<FoundContainer, "exitCode" | "restart" | "state">): boolean {
  return state === "exited" && exitCode === 0 && /^(?:no|on-failure(?::\d+)?)$/.test(restart);
}
