import type { Edge } from "../../ports/domains/edge.ts";
import type { LiveReleases } from "../../ports/deployments/live_releases.ts";
import type { Log } from "../../ports/system/log.ts";

/** How long other processes may take to follow; a caller who waits gets a response earlier. */
const FOLLOW_MS = 300_000;

export interface StopServingPorts {
  readonly edge: Edge;
  readonly liveReleases: LiveReleases;
  readonly log: Log;
}

/**
 * Removes all routes of keys that are no longer live. Resolves once the edges of all processes have followed, or after
 * `FOLLOW_MS`, with a warning in the log.
 */
export async function stopServing(
  { edge, liveReleases, log }: StopServingPorts,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  for (const key of keys) await edge.switch(key, []);
  for (const key of keys) await liveReleases.announce(key);
  if (await liveReleases.followed(FOLLOW_MS)) return;
  log.write("warn", "Another server may still route visitors to what was removed: restart the servers that hang", {
    keys: keys.join(", "),
  });
}
