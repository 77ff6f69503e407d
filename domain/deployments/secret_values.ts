import type { Secret } from "../secret.ts";
import type { Deployment } from "./deployment.ts";

/** Returns the values of a deployment's environment that must be masked in all output. */
export function secretValues(
  { secretKeys }: Pick<Deployment, "secretKeys">,
  environment: ReadonlyMap<string, Secret>,
): readonly Secret[] {
  return secretKeys.map((key) => environment.get(key)).filter((value) => value !== undefined);
}
