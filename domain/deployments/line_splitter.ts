const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const MAX_LINE = 16_384;
/** How far before the end of a long line to search for white space to cut at. */
const CUT_SEARCH = 4_096;
const MAX_CHUNK = 65_536;

/**
 * Splits a byte stream into lines, buffering at most one line. A line ends with `\n`, `\r\n` or `\r`: each state of a
 * progress bar is a line, except for a redraw without text. Invalid UTF-8 becomes U+FFFD; escape sequences are kept. A
 * line of more than 16,384 characters is split into pieces, after white space if possible, so that a word (such as a
 * secret) is rarely torn.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Text after the last line end; never contains `\r` or `\n`. */
  #rest = "";
  /** Whether the last line ended with `\r`, so that a following `\n` belongs to it. */
  #returned = false;

  /** Returns the lines that these bytes complete. */
  push(bytes: Uint8Array): string[] {
    const lines: string[] = [];
    for (let at = 0; at < bytes.length; at += MAX_CHUNK) {
      this.#take(this.#decoder.decode(bytes.subarray(at, at + MAX_CHUNK), { stream: true }), lines);
    }
    return lines;
  }

  /** Returns the rest at the end of the stream: at most a few pieces of one line. */
  flush(): string[] {
    const lines: string[] = [];
    this.#take(this.#decoder.decode(), lines);
    if (this.#rest !== "") lines.push(this.#rest);
    this.#rest = "";
    this.#returned = false;
    return lines;
  }

  #take(text: string, lines: string[]): void {
    let from = 0;
    // Almost no output contains `\r`; then one search per line is enough.
    const returns = text.includes("\r") || this.#returned;
    for (;;) {
      const end = returns ? endOf(text, from) : text.indexOf("\n", from);
      if (end === -1) break;
      const piece = text.slice(from, end);
      if (text.charCodeAt(end) === LINE_FEED) this.#fed(piece, lines);
      else this.#return(piece, lines);
      from = end + 1;
    }
    if (from === text.length) return;
    this.#returned = false;
    this.#rest += text.slice(from);
    if (this.#rest.length > MAX_LINE) this.#rest = cut(this.#rest, lines);
  }

  #fed(piece: string, lines: string[]): void {
    const belongs = piece === "" && this.#returned;
    this.#returned = false;
    if (!belongs) this.#end(piece, lines);
  }

  #return(piece: string, lines: string[]): void {
    if (piece === "" && this.#rest === "") return;
    this.#end(piece, lines);
    this.#returned = true;
  }

  #end(piece: string, lines: string[]): void {
    const line = this.#rest + piece;
    this.#rest = "";
    lines.push(line.length > MAX_LINE ? cut(line, lines) : line);
  }
}

/** Returns the index of the next `\n` or `\r`, or -1. */
function endOf(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED || code === CARRIAGE_RETURN) return at;
  }
  return -1;
}

/** Appends the pieces of a long line to `lines` and returns the last one. */
function cut(line: string, lines: string[]): string {
  let from = 0;
  while (line.length - from > MAX_LINE) {
    const end = cutEnd(line, from);
    lines.push(line.slice(from, end));
    from = end;
  }
  return line.slice(from);
}

function cutEnd(line: string, from: number): number {
  const full = from + MAX_LINE;
  for (let at = full; at > full - CUT_SEARCH; at--) {
    const before = line.charCodeAt(at - 1);
    if (before === 32 || before === 9) return at;
  }
  // Half a surrogate pair would be lost when encoded.
  const high = line.charCodeAt(full - 1);
  return high >= 0xd800 && high <= 0xdbff ? full - 1 : full;
}
