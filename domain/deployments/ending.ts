/** How a program exited. */
export interface Ending {
  readonly code: number | null;
  readonly reason: "exited" | "out_of_memory" | "stopped";
}

/** Exit code of a program killed by SIGKILL, as the kernel does when memory runs out. */
const KILLED = 137;

/** Describes how a program exited, as the rest of a sentence. */
export function howItEnded(ending: Ending | null): string {
  if (ending?.reason === "out_of_memory") return "ran out of memory";
  if (ending?.code === KILLED) return `ended with code ${KILLED} (killed, most often because memory ran out)`;
  return `ended with code ${ending?.code ?? "unknown"}`;
}

/** Returns the runtime log line about an exit; `pauseMs` is the backoff, `null` if it was already restarted. */
export function endingNote(ending: Ending | null, pauseMs: number | null): string {
  const next = pauseMs === null ? "started again" : `next try in ${seconds(pauseMs)}`;
  return `The program ${howItEnded(ending)}, ${next}`;
}

function seconds(ms: number): string {
  return `${ms < 1_000 ? (Math.max(ms, 100) / 1_000).toFixed(1) : Math.round(ms / 1_000)} s`;
}
