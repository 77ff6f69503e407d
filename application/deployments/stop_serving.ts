import type { Edge } from "../../ports/domains/edge.ts";
import type { LiveReleases } from "../../ports/deployments/live_releases.ts";

/** As long as other processes may take to follow; whoever waits for an answer is told earlier. */
const FOLLOW_MS = 300_000;

export interface StopServingPorts {
  readonly edge: Edge;
  readonly liveReleases: LiveReleases;
}

/**
 * Takes away all routes to what is live under these keys no more, and resolves once the edges of all processes have.
 */
export async function stopServing({ edge, liveReleases }: StopServingPorts, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  for (const key of keys) await edge.switch(key, []);
  for (const key of keys) await liveReleases.announce(key);
  await liveReleases.followed(FOLLOW_MS);
}
