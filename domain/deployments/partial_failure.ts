import type { Deployment, DeploymentError } from "./deployment.ts";

/** The error of a deployment with some failed services; `null` if none failed. */
export function partialFailure({ services }: Pick<Deployment, "services">): DeploymentError | null {
  const failed = services.filter(({ status }) => status === "failed");
  if (failed.length === 0) return null;
  const names = failed.map(({ name }) => name).join(", ");
  const first = failed.find(({ error }) => error !== null)?.error ?? "";
  const next = "Keep the services that came up, or reject them to go back";
  return { code: "services_failed", message: `Not everything came up: ${names}. ${first}. ${next}`, step: "health" };
}
