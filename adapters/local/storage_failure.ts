import { conflict, Failure, invalid } from "../../domain/failure.ts";
import { errorCode } from "../shared/error_code.ts";

/** Maps a file system error to a failure; `action` follows "Cannot" in the message. Passes failures through. */
export function storageFailure(action: string, error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error)) return error;
  const because = (reason: string) => `Cannot ${action}: ${reason}`;
  const options = { cause: error };
  switch (errorCode(error)) {
    case "ENAMETOOLONG":
      return invalid(
        "archive_name_refused",
        because("a name in it is too long for the disk of this server; use shorter names"),
        options,
      );
    case "EEXIST":
      return invalid(
        "archive_conflict",
        because("two of its names are the same to the disk of this server; rename one of them"),
        options,
      );
    case "ENOENT":
      return conflict("changed_meanwhile", because("a part of it was removed meanwhile; try again"), options);
    case "ENOSPC":
    case "EDQUOT":
      return storageFull(action, error);
    default:
      return new Failure(
        "unavailable",
        "storage_failed",
        because("the disk of this server failed; its log says why"),
        options,
      );
  }
}

/** As `storageFailure`, of an upload: its files are gone when its session has ended. */
export function uploadFailure(action: string, error: unknown): unknown {
  if (error instanceof Failure || errorCode(error) !== "ENOENT") return storageFailure(action, error);
  const sentence = `Cannot ${action}: its session ended meanwhile; start a new one`;
  return conflict("upload_discarded", sentence, { cause: error });
}

/** The failure of a full disk; `action` follows "Cannot" in the message. */
export function storageFull(action: string, cause?: unknown): Failure {
  const sentence = `Cannot ${action}: the disk of this server is full; free some space and try again`;
  return new Failure("unavailable", "storage_full", sentence, { cause });
}

/** Runs work and maps its file system errors to failures; `action` follows "Cannot" in the message. */
export async function onDisk<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageFailure(action, error);
  }
}
