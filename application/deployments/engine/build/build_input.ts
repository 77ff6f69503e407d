import type { Deployment } from "../../../../domain/deployments/deployment.ts";
import type { Secret } from "../../../../domain/secret.ts";

/** What a deployment reads from its project when its build starts. */
export interface BuildInput {
  readonly fields: Partial<Deployment>;
  readonly environment: ReadonlyMap<string, Secret>;
}
