import { isEngineAway } from "../../domain/failure.ts";
import type { Instance, Runtime } from "../../ports/services/runtime.ts";

const GRACE_MS = 10_000;

/**
 * Stops and removes instances concurrently, each with its own grace period. Instances of an unavailable engine are left
 * to the sweep.
 */
export async function stopInstances(
  { runtime }: { readonly runtime: Runtime },
  instances: readonly Pick<Instance, "instanceId">[],
): Promise<void> {
  const outcomes = await Promise.allSettled(
    instances.map(({ instanceId }) => runtime.remove(instanceId, { graceMs: GRACE_MS })),
  );
  for (const outcome of outcomes) {
    if (outcome.status === "rejected" && !isEngineAway(outcome.reason)) throw outcome.reason;
  }
}
