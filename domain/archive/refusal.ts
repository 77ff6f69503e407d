import { Failure, invalid } from "../failure.ts";

/** Why an archive was refused; an error code that clients may branch on. */
export type RefusalCode =
  | "upload_empty"
  | "upload_interrupted"
  | "archive_not_gzip"
  | "archive_broken"
  | "archive_without_files"
  | "archive_header_too_large"
  | "archive_name_refused"
  | "archive_entry_refused"
  | "archive_link_refused"
  | "archive_conflict";

/** The failure that refuses a whole archive; `reason` ends with what to do next where that is not obvious. */
export function refusal(code: RefusalCode, reason: string, cause?: unknown): Failure {
  return invalid(code, `Cannot accept the upload: ${reason}`, { cause });
}

/** The failure that refuses an archive because it exceeds a limit. */
export function beyondLimit(code: string, reason: string): Failure {
  return new Failure("too_large", code, `Cannot accept the upload: ${reason}`);
}

const SHOWN_CHARACTERS = 120;
const decoder = new TextDecoder();

/** Formats a name of the archive for an error message: quoted, control characters escaped, truncated if very long. */
export function shown(name: string | Uint8Array): string {
  const text = typeof name === "string" ? name : decoder.decode(name.subarray(0, 4 * SHOWN_CHARACTERS));
  const cut = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
  return JSON.stringify(cut).replaceAll(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
