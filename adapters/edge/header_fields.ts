import { BadMessage } from "./bad_message.ts";

const FIELDS = /(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)*$/y;
const NAME = /([^:\r\n]+):/y;
/** Header names that a proxy has to inspect; skipping all others saves most of the work. */
const SPECIAL =
  /\r\n(connection|keep-alive|te|upgrade|proxy[^:\r\n]*|content-length|transfer-encoding|host|expect|forwarded|x[-_]forwarded[^:\r\n]*|x[-_]real[-_]ip):/gi;
const MAX_SPECIAL = 100;
const NO_NAMES: readonly string[] = [];

/** A header field: its lower-case name, and its position in the head. */
export class HeaderField {
  readonly name: string;
  readonly start: number;
  /** Offset after the end of its line. */
  readonly next: number;
  readonly #head: string;

  constructor(head: string, name: string, start: number) {
    this.name = name.toLowerCase();
    this.start = start;
    this.next = head.indexOf("\r\n", start) + 2;
    this.#head = head;
  }

  /** The value, without surrounding spaces and tabs. */
  get value(): string {
    return trimmed(this.#head, this.start + this.name.length + 1, this.next - 2);
  }
}

/**
 * Parses the header fields that concern a proxy, strictly: in all fields it rejects folded lines, whitespace around
 * names and control characters, because two programs could parse them as two different messages (request smuggling).
 * `lineEnd` is the offset at which the first line ends.
 */
export function specialFields(text: string, lineEnd: number): HeaderField[] {
  FIELDS.lastIndex = lineEnd + 2;
  if (!FIELDS.test(text)) throw new BadMessage(400, "a header field is malformed");
  const fields: HeaderField[] = [];
  SPECIAL.lastIndex = lineEnd;
  for (let match = SPECIAL.exec(text); match; match = SPECIAL.exec(text)) {
    if (fields.push(new HeaderField(text, match[1]!, match.index + 2)) > MAX_SPECIAL)
      throw new BadMessage(431, "there are too many header fields");
  }
  return fields;
}

/** Returns all fields of a head that was validated by `specialFields`. */
export function allFields(text: string): HeaderField[] {
  const fields: HeaderField[] = [];
  for (let start = text.indexOf("\r\n") + 2; start < text.length; start = fields.at(-1)!.next) {
    NAME.lastIndex = start;
    fields.push(new HeaderField(text, NAME.exec(text)?.[1] ?? "", start));
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
