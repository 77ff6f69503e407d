import type { Environment } from "../deployments/deployment.ts";
import type { ServiceSpec } from "./service_spec.ts";
import { invalid } from "../failure.ts";
import { variablesFor } from "../projects/service_variables.ts";
import type { Secret } from "../secret.ts";

/** Rejects services that refer to a variable which the project no longer has for the environment. */
export function checkVariables(
  services: readonly ServiceSpec[],
  variables: ReadonlyMap<string, Secret>,
  environment: Environment = "production",
): readonly ServiceSpec[] {
  for (const { name, namedVariables = [] } of services) {
    const known = variablesFor(variables, name);
    const missing = namedVariables.find((variable) => !known.has(variable));
    if (missing === undefined) continue;
    const why =
      environment === "preview"
        ? `previews of the project have no variable ${missing}. Set it for previews`
        : `the project has no variable ${missing} any more. Set it`;
    throw invalid("variable_missing", `Cannot deploy "${name}": ${why}, or deploy with other services`);
  }
  return services;
}
