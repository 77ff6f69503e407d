import { invalidField } from "../failure.ts";
import type { Notation } from "./notation.ts";

/** Returns the value of a parsed notation; throws an error with the path of the field if the notation is invalid. */
export function fieldValue<T>(read: Notation<T>, path: string): T {
  if ("wrong" in read) throw invalidField(path, read.wrong);
  return read.value;
}
