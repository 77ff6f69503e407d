import type { DeployedService, Deployment } from "../../../../domain/deployments/deployment.ts";
import type { InstanceOwner } from "../../../../domain/deployments/instance_id.ts";
import type { Failure } from "../../../../domain/failure.ts";
import type { ServiceRecord } from "../../../../domain/services/service_set.ts";

/** A service as it stands before a changeover. */
export interface RunningService {
  readonly record: ServiceRecord;
  readonly service: DeployedService;
  /** Whose release it is of. */
  readonly deployment: Deployment;
  /** Whether it runs now. */
  readonly runs: boolean;
  /** Whether visitors get to it now. */
  readonly isPublic: boolean;
}

/** What is to change. */
export interface ChangeoverPlan {
  readonly former: readonly RunningService[];
  readonly wanted: readonly ServiceRecord[];
  /** Whose release the new instances are of, and what they are called after. */
  readonly deployment: Deployment;
  readonly owner: InstanceOwner;
  /** The services that visitors get to. */
  readonly publicly: ReadonlySet<string>;
  /** Takes how a service stands meanwhile. */
  readonly tell: (name: string, change: Partial<DeployedService>) => Promise<void>;
  /** Whether what is the same is left alone. */
  readonly keepsSame: boolean;
  /** Whether a part of it is worth having while the rest did not come up. */
  readonly inPart: boolean;
  /** Whether what ends by itself is run; a way back does not run it again. */
  readonly runsOneShots: boolean;
}

/** How bringing up a service went. */
export interface Outcome {
  readonly name: string;
  readonly status: "healthy" | "done" | "unchanged" | "failed";
  /** What runs of it now: of its new version, or of the one before where it failed. */
  readonly instanceId: string | null;
  readonly site: string | null;
  readonly failure: Failure | null;
  /** Whether it stands beside its former version, which visitors and others still get. */
  readonly beside: boolean;
}
