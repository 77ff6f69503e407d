import { BadMessage } from "./bad_message.ts";

/** A header field; `name` is in lower case, `line` is the field as it was sent. */
export interface HeaderField {
  readonly name: string;
  readonly value: string;
  readonly line: string;
}

const MAX_FIELDS = 200;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TEXT = /^[\t -~\x80-\xff]*$/;

/**
 * Reads the fields of a head, strictly: folded lines, blanks around names and control characters are refused, because two programs
 * could read them as two different messages.
 */
export function headerFields(text: string, from: number): HeaderField[] {
  const fields: HeaderField[] = [];
  for (let start = from; start < text.length;) {
    const found = text.indexOf("\r\n", start);
    const end = found < 0 ? text.length : found;
    const line = text.slice(start, end);
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    if (!NAME.test(name) || !TEXT.test(line)) throw new BadMessage(400, "a header field is malformed");
    if (fields.push({ name: name.toLowerCase(), value: trimmed(line, colon + 1), line }) > MAX_FIELDS)
      throw new BadMessage(431, "there are too many header fields");
    start = end + 2;
  }
  return fields;
}

/** The value of a field, the first of several. */
export function fieldValue(fields: readonly HeaderField[], name: string): string | undefined {
  return fields.find((field) => field.name === name)?.value;
}

/** The lower-case members of a list such as `Connection: close, X-Own`. */
export function listed(value: string): string[] {
  return value
    .toLowerCase()
    .split(",")
    .map((member) => trimmed(member, 0));
}

/** Without blanks and tabs around it, and nothing else: other programs take no other character away. */
function trimmed(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start++;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}
