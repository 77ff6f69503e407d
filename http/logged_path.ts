import { isAnyId } from "../domain/id.ts";
import type { Match } from "./route_table.ts";

const HOLE = /:(\w+)/g;
const PLAIN = /^(?!slp_)[A-Za-z0-9._~-]{0,31}$/i;
const MAX_LENGTH = 200;

/**
 * Returns the path of a request for the log, without anything in place of an id or a word that could be a secret, such
 * as a token.
 */
export function loggedPath(path: string, matched: Match): string {
  const { found } = matched;
  if (!found) return path.split("/").map(plainPart).join("/").slice(0, MAX_LENGTH);
  if (!found.path.includes(":")) return found.path;
  return found.path.replace(HOLE, (hole, name: string) => plainId(matched.params[name]) ?? hole);
}

function plainId(text: string | undefined): string | undefined {
  return text !== undefined && isAnyId(text) ? text : undefined;
}

function plainPart(part: string): string {
  return PLAIN.test(part) || isAnyId(part) ? part : "…";
}
