import { conflict, Failure, invalid } from "../../domain/failure.ts";

/** The failure that an error of the file system amounts to for the one who uploads; failures pass unchanged. */
export function storageFailure(error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error)) return error;
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENAMETOOLONG":
      return invalid(
        "archive_name_refused",
        "Cannot accept the upload: a name in it is too long for the disk of this server; use shorter names",
        { cause: error },
      );
    case "EEXIST":
      return invalid(
        "archive_conflict",
        "Cannot accept the upload: two of its names are the same to the disk of this server; rename one of them",
        { cause: error },
      );
    case "ENOENT":
      return conflict(
        "upload_discarded",
        "Cannot accept the upload: its session ended while it arrived; start a new one",
        { cause: error },
      );
    case "ENOSPC":
    case "EDQUOT":
      return new Failure(
        "unavailable",
        "storage_full",
        "Cannot accept the upload: the disk of this server is full; free some space and send it again",
        { cause: error },
      );
    default:
      return new Failure(
        "unavailable",
        "storage_failed",
        "Cannot accept the upload: the disk of this server failed; its log says why",
        { cause: error },
      );
  }
}
