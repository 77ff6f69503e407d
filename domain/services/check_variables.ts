import type { ServiceSpec } from "./service_spec.ts";
import { invalid } from "../failure.ts";
import type { Secret } from "../secret.ts";

/** Rejects services that refer to a variable which the project no longer has. */
export function checkVariables(
  services: readonly ServiceSpec[],
  variables: ReadonlyMap<string, Secret>,
): readonly ServiceSpec[] {
  for (const { name, namedVariables = [] } of services) {
    const missing = namedVariables.find((variable) => !variables.has(variable));
    if (missing === undefined) continue;
    const next = "Set it, or deploy with other services";
    throw invalid(
      "variable_missing",
      `Cannot deploy "${name}": the project has no variable ${missing} any more. ${next}`,
    );
  }
  return services;
}
