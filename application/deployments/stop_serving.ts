import type { Edge } from "../../ports/domains/edge.ts";
import type { LiveReleases } from "../../ports/deployments/live_releases.ts";

/** How long other processes may take to follow; a caller who waits gets a response earlier. */
const FOLLOW_MS = 300_000;

export interface StopServingPorts {
  readonly edge: Edge;
  readonly liveReleases: LiveReleases;
}

/**
 * Removes all routes of keys that are no longer live. Resolves once the edges of all processes have followed, or after
 * `FOLLOW_MS`.
 */
export async function stopServing({ edge, liveReleases }: StopServingPorts, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  for (const key of keys) await edge.switch(key, []);
  for (const key of keys) await liveReleases.announce(key);
  await liveReleases.followed(FOLLOW_MS);
}
