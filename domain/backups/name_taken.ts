import { type Failure, invalid } from "../failure.ts";

/** The failure for a name that another destination of the organization already has. */
export function nameTaken(): Failure {
  const message = "another destination has this name: choose another";
  return invalid("name_taken", `Cannot accept "name": ${message}`, { details: [{ path: "name", message }] });
}
