import { STATUS_CODES } from "node:http";

/** The usual words for a status. */
export function reasonPhrase(status: number): string {
  return STATUS_CODES[status] ?? "";
}
