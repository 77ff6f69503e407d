import { invalidField } from "../domain/failure.ts";

/** Refuses a query with a character that no stored text can hold, by the name of its part. */
export function checkQueryText(query: string): void {
  if (!query.includes("%00")) return;
  for (const [name, value] of new URLSearchParams(query)) {
    if (value.includes("\0")) throw invalidField(name, "it holds a NUL character, which is in no text here");
  }
}
