import { invalidField } from "./failure.ts";

/** Trims a name that a person gave; throws for a blank one, with `advice`, and for one with control characters. */
export function readName(text: string, advice: string): string {
  const name = text.trim();
  if (name === "") throw invalidField("name", advice);
  if (hasControls(name)) {
    throw invalidField("name", "it contains a control character, such as a line break. Leave it out");
  }
  return name;
}

/** Returns whether a text contains control characters, which break lines and forms that show it. */
export function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text);
}
