import type { WorkClaim } from "../../ports/deployments/deployment_queue.ts";
import type { Sql } from "./database.ts";

/** The condition under which a row of `deployments` is the claimed one, and the claim is not void. */
export function isClaimed(sql: Sql, { deploymentId, owner, attempt }: WorkClaim) {
  return sql`deployments.id = ${deploymentId} and deployments.lease_owner = ${owner} and deployments.attempts = ${attempt}`;
}
