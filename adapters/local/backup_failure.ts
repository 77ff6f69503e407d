import { Failure } from "../../domain/failure.ts";
import { errorCode } from "../shared/error_code.ts";

const REASONS: Readonly<Record<string, readonly [code: string, reason: string]>> = {
  EACCES: [
    "permission_denied",
    "Slipway has no permission to do that in the folder; change the folder's owner or permissions",
  ],
  EPERM: [
    "permission_denied",
    "Slipway has no permission to do that in the folder; change the folder's owner or permissions",
  ],
  EROFS: ["permission_denied", "its disk is read-only; mount it writable"],
  ENOSPC: ["storage_full", "its disk is full; free some space or choose another folder"],
  EDQUOT: ["storage_full", "the quota is used up; free some space or choose another folder"],
  EFBIG: ["storage_full", "it is too large for the file system"],
  ENOENT: ["not_found", "the folder is gone"],
  ENOTDIR: ["misconfigured", "something on the path is not a folder, or is a link"],
  ELOOP: ["misconfigured", "something on the path is a link; give the real folder"],
  EISDIR: ["misconfigured", "a folder has that name"],
  EEXIST: ["misconfigured", "something with that name is in the way"],
  ENAMETOOLONG: ["misconfigured", "the names are too long for the file system"],
};

/** Maps a file system error to the failure of a backup store; passes any other error through. */
export function backupFailure(action: string, error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error) || errorCode(error) === "") return error;
  const [code, reason] = REASONS[errorCode(error)] ?? [
    "unreachable",
    "the disk failed; the log of this machine says why",
  ];
  return new Failure("remote_failed", code, `Cannot ${action} the object in the local folder: ${reason}`, {
    cause: error,
  });
}
