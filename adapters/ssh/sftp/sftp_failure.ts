import { Failure } from "../../../domain/failure.ts";
import type { RemoteTarget } from "../../../ports/servers/remote_hosts.ts";
import { place } from "../connection_failure.ts";

/** SFTP status codes. */
export const STATUS = { eof: 1, absent: 2, denied: 3, failure: 4, unsupported: 8, noSpace: 14, quota: 15 } as const;

/** The state of the disk that a request failed on. */
export interface DiskState {
  readonly full: boolean;
  readonly readOnly: boolean;
}

const DENIED =
  "this user is not allowed to do that there: change the owner or the permissions of the folder, or pathPrefix";
const READ_ONLY = "the disk there is read-only: mount it writable";
const FULL = "the disk there is full, or the quota is used up: free some space or choose another target";

/** Returns the status code of a server's response, or `undefined` when there was no response. */
export function statusOf(error: unknown): number | undefined {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "number" ? code : undefined;
}

/** Converts an error of a request to a failure with its own message. Returns failures unchanged. */
export function sftpFailure(
  error: unknown,
  { target, action, disk }: { readonly target: RemoteTarget; readonly action: string; readonly disk?: DiskState },
): unknown {
  if (error instanceof Failure || !(error instanceof Error)) return error;
  const [code, why] = reason(statusOf(error), disk);
  return new Failure("remote_failed", code, `Cannot ${action} on ${place(target)}: ${why}`, {
    cause: new Error(`SFTP status ${statusOf(error) ?? "none"}`),
  });
}

function reason(status: number | undefined, disk: DiskState | undefined): readonly [code: string, why: string] {
  switch (status) {
    case undefined:
      return ["unreachable", "the connection broke: try again"];
    case STATUS.absent:
      return ["not_found", "the folder is not there: check pathPrefix"];
    case STATUS.denied:
      return ["permission_denied", DENIED];
    case STATUS.noSpace:
    case STATUS.quota:
      return ["storage_full", FULL];
    default:
      if (disk?.full) return ["storage_full", FULL];
      if (disk?.readOnly) return ["permission_denied", READ_ONLY];
      return ["misconfigured", "the server refused it without a reason: check its log and pathPrefix"];
  }
}
