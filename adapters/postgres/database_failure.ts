import { conflict, Failure, invalid } from "../../domain/failure.ts";
import { errorCode } from "../shared/error_code.ts";

/**
 * Reasons why the database is unavailable, by error code. SQLSTATE classes are keyed by their first two or three
 * characters.
 */
const AWAY: Readonly<Record<string, string>> = {
  CONNECTION_CLOSED: "the connection broke",
  CONNECTION_DESTROYED: "it does not answer",
  CONNECTION_ENDED: "the service is stopping",
  CONNECT_TIMEOUT: "it does not answer",
  EAI_AGAIN: "the name of its host cannot be looked up",
  ECONNREFUSED: "nothing listens at its address",
  ECONNRESET: "the connection broke",
  EHOSTUNREACH: "its host cannot be reached",
  ENETUNREACH: "its host cannot be reached",
  ENOENT: "nothing listens at its address",
  ENOTFOUND: "the name of its host is not known",
  EPIPE: "the connection broke",
  ETIMEDOUT: "it does not answer",
  ERR_SOCKET_CLOSED: "the connection broke",
  SASL_SIGNATURE_MISMATCH: "it could not prove its identity",
  "08": "the connection broke",
  "25006": "it only allows reading",
  "28": "it rejects the user or the password of DATABASE_URL",
  "3D000": "it has no database of the name in DATABASE_URL",
  "53": "it has no room or no free connection",
  "57P": "it is starting or stopping",
  "58": "its disk fails",
};

/** Matches error codes of untrusted TLS certificates. */
const UNTRUSTED = /CERT|LEAF_SIGNATURE|^ERR_(?:TLS|SSL)/;

/**
 * SQLSTATEs of statements that were aborted by a serialization failure, a deadlock, a lock timeout or the statement
 * timeout.
 */
const BUSY = new Set(["40001", "40P01", "55P03", "57014"]);

/**
 * Converts an error of postgres.js to the failure that it means to the caller. Returns errors that mean a bug
 * unchanged.
 */
export function databaseFailure(error: unknown): unknown {
  const code = errorCode(error);
  if (error instanceof Failure || code === "") return error;
  if (BUSY.has(code)) {
    return new Failure("unavailable", "database_busy", "Cannot do this now: the database is too busy. Try again", {
      cause: error,
    });
  }
  const reason = whyAway(code, error);
  if (reason !== undefined) {
    return new Failure("unavailable", "database_away", `Cannot reach the database: ${reason}`, { cause: error });
  }
  return refusedValue(code, error) ?? error;
}

function whyAway(code: string, error: unknown): string | undefined {
  const known = AWAY[code];
  if (known !== undefined) return known;
  if (/^[0-9A-Z]{5}$/.test(code)) return AWAY[code.slice(0, 3)] ?? AWAY[code.slice(0, 2)] ?? whyFatal(error);
  if (UNTRUSTED.test(code)) return "its certificate is not trusted";
  return (error as { readonly syscall?: unknown }).syscall === undefined ? undefined : "its host cannot be reached";
}

/** Explains FATAL errors: no statement fails with one, only a connection that the server refuses while it is opened. */
function whyFatal(error: unknown): string | undefined {
  const { severity } = error as { readonly severity?: unknown };
  return severity === "FATAL"
    ? "it rejects a parameter of DATABASE_URL, or the connection for another reason"
    : undefined;
}

/** Returns the name of the constraint that a PostgreSQL error reports as violated. */
export function violatedConstraint(error: unknown): string | undefined {
  if (!errorCode(error).startsWith("23")) return undefined;
  const name = (error as { readonly constraint_name?: unknown }).constraint_name;
  return typeof name === "string" ? name : undefined;
}

function refusedValue(code: string, cause: unknown): Failure | undefined {
  switch (code) {
    // Invalid UTF-8, a NUL character, or half of a surrogate pair in JSON.
    case "22021":
    case "22P02":
    case "22P05":
      return invalid("invalid_text", "Cannot store this text: it contains a character that cannot be stored", {
        cause,
      });
    case "22007":
    case "22008":
      return invalid("invalid_time", "Cannot store this time: it is out of range", { cause });
    case "22003":
      return invalid("invalid_number", "Cannot store this number: it is out of range", { cause });
    case "54000":
      return invalid("text_too_long", "Cannot store this text: it is too long", { cause });
    case "23503":
      return conflict("changed_meanwhile", "Cannot do this: a resource that it belongs to was removed meanwhile", {
        cause,
      });
    default:
      return undefined;
  }
}
