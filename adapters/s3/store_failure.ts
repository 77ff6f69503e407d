import { Failure } from "../../domain/failure.ts";
import type { BucketTarget } from "../../ports/backups/object_storages.ts";

/** The attempted operation, in words, and the permission in a bucket policy that allows it. */
export interface StoreAction {
  readonly words: string;
  readonly right: string;
}

export const ACTIONS = {
  put: { words: "write the object", right: "s3:PutObject" },
  get: { words: "read the object", right: "s3:GetObject" },
  stat: { words: "inspect the object", right: "s3:GetObject and s3:ListBucket" },
  list: { words: "list the objects", right: "s3:ListBucket" },
  remove: { words: "delete the object", right: "s3:DeleteObject" },
  unfinished: { words: "list unfinished uploads", right: "s3:ListBucketMultipartUploads" },
  parts: { words: "list the parts of an unfinished upload", right: "s3:ListMultipartUploadParts" },
  discard: { words: "end an unfinished upload", right: "s3:AbortMultipartUpload" },
} as const satisfies Record<string, StoreAction>;

type Reason = readonly [code: string, why: string];

const WRONG_KEY: Reason = ["auth_failed", "the store does not know this access key: check accessKeyId"];
const OLD_KEY: Reason = ["auth_failed", "the store no longer accepts this key: give a new one"];
const ELSEWHERE: Reason = [
  "misconfigured",
  "the bucket is kept in another region or at another address: check region and endpoint",
];
const BUSY: Reason = ["unreachable", "the store is busy or has an internal error: try again later"];
const FULL: Reason = ["storage_full", "the store has no room left, or the quota is used up"];
const CLOCK =
  "the clocks of this machine and of the store differ by more than the store allows: correct the clock of this machine";

/** Reasons by S3 error code. */
const SAID: Readonly<Record<string, Reason>> = {
  InvalidAccessKeyId: WRONG_KEY,
  InvalidClientTokenId: WRONG_KEY,
  SignatureDoesNotMatch: ["auth_failed", "the signature does not match: check secretAccessKey"],
  ExpiredToken: OLD_KEY,
  InvalidToken: OLD_KEY,
  TokenRefreshRequired: OLD_KEY,
  AccountProblem: OLD_KEY,
  UserSuspended: OLD_KEY,
  NoSuchBucket: ["not_found", "there is no such bucket: create it or check its name"],
  InvalidBucketName: ["misconfigured", "the store does not accept this bucket name"],
  AuthorizationHeaderMalformed: ELSEWHERE,
  PermanentRedirect: ELSEWHERE,
  TemporaryRedirect: ELSEWHERE,
  IllegalLocationConstraintException: ELSEWHERE,
  RequestTimeTooSkewed: ["misconfigured", CLOCK],
  RequestExpired: ["misconfigured", CLOCK],
  SlowDown: BUSY,
  ServiceUnavailable: BUSY,
  InternalError: BUSY,
  RequestTimeout: ["timeout", "the store waited too long for data: try again"],
  QuotaExceeded: FULL,
  InsufficientCapacity: FULL,
  EntityTooLarge: ["storage_full", "the object is larger than the store accepts"],
};

/** Reasons by network error code. */
const REACHING: Readonly<Record<string, Reason>> = {
  ENOTFOUND: ["unreachable", "the name cannot be resolved: check endpoint and region"],
  EAI_AGAIN: ["unreachable", "the name cannot be resolved now: check endpoint and the name server"],
  ECONNREFUSED: ["unreachable", "the connection was refused: check endpoint and its port"],
  ConnectionRefused: ["unreachable", "the connection was refused: check endpoint and its port"],
  ECONNRESET: ["unreachable", "the connection broke: check that the store speaks S3 at this address"],
  ETIMEDOUT: ["timeout", "no answer came: check endpoint, and that no firewall drops the connection"],
};

/**
 * Converts an error of the SDK or the network to a failure whose message repeats nothing from the store. Returns
 * failures unchanged.
 */
export function storeFailure(target: BucketTarget, { words, right }: StoreAction, error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error)) return error;
  const { $metadata, code } = error as { $metadata?: { httpStatusCode?: number }; code?: unknown };
  const status = $metadata?.httpStatusCode;
  const [word, why] = SAID[error.name] ?? byCode(code) ?? byStatus(status, right);
  const place = target.endpoint === null ? "Amazon S3" : new URL(target.endpoint).host;
  return new Failure("remote_failed", word, `Cannot ${words} in the bucket "${target.bucket}" at ${place}: ${why}`, {
    // Only protocol codes: other text from a store could contain anything.
    cause: new Error(`${error.name in SAID ? error.name : "Error"} ${reachingCode(code)} ${status ?? "no answer"}`),
  });
}

/** Returns whether a store reports that the object does not exist. */
export function saysAbsent(error: unknown): boolean {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  return name === "NoSuchKey" || name === "NotFound" || (name !== "NoSuchBucket" && $metadata?.httpStatusCode === 404);
}

function reachingCode(code: unknown): string {
  return typeof code === "string" && /^[A-Z_]{3,50}$/.test(code) ? code : "";
}

function byCode(code: unknown): Reason | undefined {
  if (typeof code !== "string") return undefined;
  if (/CERT|SELF_SIGNED|ERR_TLS|UNABLE_TO/.test(code)) {
    return ["misconfigured", "its certificate is not trusted: name the authority's certificate in BACKUP_CA_FILE"];
  }
  return REACHING[code];
}

function byStatus(status: number | undefined, right: string): Reason {
  if (status === undefined) return ["unreachable", "what answers there does not speak S3: check endpoint"];
  if (status === 401 || status === 403)
    return ["permission_denied", `this access key is not allowed to: it needs the permission ${right}`];
  if (status >= 300 && status < 400) return ELSEWHERE;
  if (status === 404) return ["not_found", "there is no such thing at this address: check endpoint and bucket"];
  if (status === 507) return FULL;
  if (status >= 500 || status === 429) return BUSY;
  return ["misconfigured", `the store refused the request (status ${status}): check endpoint, region and bucket`];
}
