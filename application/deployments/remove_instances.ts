import type { Runtime } from "../../ports/runtime.ts";

const GRACE_MS = 10_000;

/** Stops and forgets everything that runs of a deployment. */
export async function removeInstances({ runtime }: { readonly runtime: Runtime }, deploymentId: string): Promise<void> {
  const own = (await runtime.list()).filter((instance) => instance.deploymentId === deploymentId);
  for (const { instanceId } of own) await runtime.remove(instanceId, { graceMs: GRACE_MS });
}
