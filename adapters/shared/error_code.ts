/** Codes of a path that does not lead to a file. */
export const ABSENT: readonly string[] = ["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"];

/** Returns the code of an error as Node (`ENOENT`) or PostgreSQL (SQLSTATE) sets it; empty if it has none. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error ? (error as { readonly code?: unknown }).code : undefined;
  return typeof code === "string" ? code : "";
}

/** Returns the result of a file operation, or `undefined` if the file is missing. */
export function ifExists<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    return unlessMissing(error);
  }
}

/** Handles a rejection: `undefined` for a missing file; throws other errors. */
export function unlessMissing(error: unknown): undefined {
  if (errorCode(error) !== "ENOENT") throw error;
}

/** Returns the result of a file operation, or `undefined` if it fails with one of the codes. */
export async function unlessCode<T>(codes: readonly string[], work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codes.includes(errorCode(error))) return undefined;
    throw error;
  }
}
