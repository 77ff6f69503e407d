import { conflict, Failure } from "../failure.ts";

const CODE = "claim_void";

/** The failure of a worker that changes a deployment after another process has taken it over. */
export function claimVoid(): Failure {
  return conflict(CODE, "Cannot continue this deployment: another process has taken it over");
}

/** Returns whether an error means that another process has taken over the deployment. */
export function isClaimVoid(error: unknown): boolean {
  return error instanceof Failure && error.code === CODE;
}
