import { conflict, Failure } from "../failure.ts";

const CODE = "claim_void";

/** The failure of whoever changes something in the name of a deployment that another process has taken over. */
export function claimVoid(): Failure {
  return conflict(CODE, "Cannot go on with this deployment: another process has taken it over");
}

/** Tells whether something failed because another process has taken the deployment over. */
export function isClaimVoid(error: unknown): boolean {
  return error instanceof Failure && error.code === CODE;
}
