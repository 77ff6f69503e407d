import type { WorkClaim } from "../../ports/deployments/deployment_queue.ts";
import type { Sql } from "./database.ts";

/** Returns the SQL condition that a row of `deployments` is the claimed one and that the claim is still valid. */
export function isClaimed(sql: Sql, { deploymentId, owner, attempt }: WorkClaim) {
  return sql`deployments.id = ${deploymentId} and deployments.lease_owner = ${owner} and deployments.attempts = ${attempt}`;
}
