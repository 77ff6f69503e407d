import { invalidField } from "../failure.ts";
import type { Notation } from "./notation.ts";

/** What a notation means; fails with the path of the field that holds it when it means nothing. */
export function fieldValue<T>(read: Notation<T>, path: string): T {
  if ("wrong" in read) throw invalidField(path, read.wrong);
  return read.value;
}
