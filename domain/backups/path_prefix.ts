import { type Failure, invalidField } from "../failure.ts";
import { isObjectKey } from "./object_key.ts";

/** Maximum length of a prefix in UTF-8 bytes; leaves room for the keys after it. */
const MAX_BYTES = 400;

/** Normalizes a prefix, without slashes around it; throws if it is absolute, contains `..` or is not a valid key. */
export function readPathPrefix(text: string | null): string | null {
  if (text === null || text === "") return null;
  if (text.includes("\0")) throw refuse("it contains a NUL character");
  if (text.startsWith("/")) throw refuse("it is absolute: give a path inside the target, such as backups/main");
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw refuse('it leads out of the target: give a path without ".."');
  if (parts.some((part) => part.startsWith("-"))) throw refuse('a folder in it begins with "-"');
  if (parts.length === 0) return null;
  const prefix = parts.join("/");
  if (!isObjectKey(prefix) || new TextEncoder().encode(prefix).length > MAX_BYTES) {
    throw refuse("it contains a control character, or a name in it or the whole is too long");
  }
  return prefix;
}

function refuse(why: string): Failure {
  return invalidField("pathPrefix", why);
}
