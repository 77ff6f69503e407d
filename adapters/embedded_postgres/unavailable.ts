import { Failure } from "../../domain/failure.ts";

/** Converts an error of the data folder into a failure whose message omits the path; passes failures through. */
export function folderUnusable(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const reason = error instanceof Error ? error.message.replace(/, \w+ '.*$/s, "").replace(/^E\w+: /, "") : "unknown";
  return unavailable(
    "data_folder_unusable",
    `Cannot use the data folder: ${reason}; make SLIPWAY_DATA a folder that this user may read and write`,
    error,
  );
}

/** A failure of the embedded PostgreSQL itself; the message states the reason and what to do. */
export function unavailable(code: string, message: string, cause?: unknown): Failure {
  return new Failure("unavailable", code, message, { cause });
}
