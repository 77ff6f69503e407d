import { BadMessage } from "./bad_message.ts";

const NAME = /([^:\r\n]+):/y;
/** Header names that a proxy has to inspect, by the code of their first letter; skipping all others saves work. */
const SPECIAL = Map.groupBy(
  [
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "te",
    "transfer-encoding",
    "upgrade",
  ] as const,
  (name) => name.charCodeAt(0),
);
/** The same for names that are known only by their beginning. */
const SPECIAL_BEGINNING = /^(?:proxy|x[-_]forwarded|x[-_]real[-_]ip$)/;
const MAX_SPECIAL = 100;
const NO_NAMES: readonly string[] = [];
const COLON = 58;
const CR = 13;
const LF = 10;
const LETTER_P = 112;
const LETTER_X = 120;
/** The bit that a lower-case letter has and an upper-case one lacks. */
const LOWER = 32;
/** Which characters may be in a header's name (1) and in its value (2). */
const ALLOWED = Uint8Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code);
  return (/[!#$%&'*+.^_`|~0-9A-Za-z-]/.test(character) ? 1 : 0) + (/[\t -~\x80-\xff]/.test(character) ? 2 : 0);
});

/** A header field: its lower-case name, and its position in the header lines. */
export class HeaderField {
  readonly name: string;
  readonly start: number;
  /** Offset after the end of its line. */
  readonly next: number;
  readonly #lines: string;

  constructor(lines: string, name: string, start: number, next: number) {
    this.name = name;
    this.start = start;
    this.next = next;
    this.#lines = lines;
  }

  /** The value, without surrounding spaces and tabs. */
  get value(): string {
    return trimmed(this.#lines, this.start + this.name.length + 1, this.next - 2);
  }
}

/**
 * Parses the header fields that concern a proxy, strictly: in all fields it rejects folded lines, whitespace around
 * names and control characters, because two programs could parse them as two different messages (request smuggling).
 */
export function specialFields(lines: string): HeaderField[] {
  const fields: HeaderField[] = [];
  let count = 0;
  for (let at = 0; at < lines.length;) {
    const start = at;
    while ((ALLOWED[lines.charCodeAt(at)]! & 1) !== 0) at++;
    if (at === start || lines.charCodeAt(at) !== COLON) throw malformed();
    const name = specialName(lines, start, at++);
    while ((ALLOWED[lines.charCodeAt(at)]! & 2) !== 0) at++;
    if (lines.charCodeAt(at++) !== CR || lines.charCodeAt(at++) !== LF) throw malformed();
    if (name !== undefined && count++ < MAX_SPECIAL) fields.push(new HeaderField(lines, name, start, at));
  }
  if (count > MAX_SPECIAL) throw new BadMessage(431, "there are too many header fields");
  return fields;
}

/** Returns all fields of header lines that were validated by `specialFields`. */
export function allFields(lines: string): HeaderField[] {
  const fields: HeaderField[] = [];
  for (let start = 0; start < lines.length; start = fields.at(-1)!.next) {
    NAME.lastIndex = start;
    const name = NAME.exec(lines)?.[1] ?? "";
    fields.push(new HeaderField(lines, name.toLowerCase(), start, lines.indexOf("\r\n", start) + 2));
  }
  return fields;
}

/** Returns the value of a field; the first one if there are several. */
export function fieldValue(fields: readonly HeaderField[], name: string): string | undefined {
  return fields.find((field) => field.name === name)?.value;
}

/** Returns the lower-case members of a list header such as `Connection: close, X-Own`. */
export function listed(value: string): string[] {
  return value
    .toLowerCase()
    .split(",")
    .map((member) => trimmed(member, 0, member.length));
}

/** Returns the members of the Connection header: names of hop-by-hop fields, and options such as `close`. */
export function hopOf(fields: readonly HeaderField[]): readonly string[] {
  let hop = NO_NAMES;
  for (const field of fields) if (field.name === "connection") hop = [...hop, ...listed(field.value)];
  return hop;
}

/** Returns the lower-case name at this place if it concerns a proxy. */
function specialName(lines: string, start: number, end: number): string | undefined {
  const first = lines.charCodeAt(start) | LOWER;
  if (first === LETTER_P || first === LETTER_X) {
    const name = lines.slice(start, end).toLowerCase();
    return SPECIAL_BEGINNING.test(name) ? name : undefined;
  }
  return SPECIAL.get(first)?.find((name) => name.length === end - start && isNamed(lines, start, name));
}

function isNamed(lines: string, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    if ((lines.charCodeAt(start + at) | LOWER) !== name.charCodeAt(at)) return false;
  }
  return true;
}

function malformed(): BadMessage {
  return new BadMessage(400, "a header field is malformed");
}

/** Trims spaces and tabs only, because other programs trim nothing else. */
function trimmed(line: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(line.charCodeAt(start))) start++;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}
