import { invalidField } from "../domain/failure.ts";

/**
 * Refuses a query with a NUL character, which stored text cannot contain, and names the parameter. Ignores unknown
 * parameters.
 */
export function checkQueryText(query: string, known: readonly string[]): void {
  if (!query.includes("%00")) return;
  for (const [name, value] of new URLSearchParams(query)) {
    if (known.includes(name) && value.includes("\0"))
      throw invalidField(name, "it contains a NUL character, which no text may contain");
  }
}
