const BLOCK = 512;

/** What becomes of an entry of an archive: it is kept, left out, or kept and also read. */
export type EntryFate = "keep" | "drop" | "read";

/** Decides about an entry by its name. */
export type EntryRule = (name: string) => EntryFate;

/**
 * Passes an archive on without the entries that a rule drops, whatever their size, and collects those that it reads.
 * Names are those of plain headers, as engines write them: at most 255 characters.
 */
export class TarEntries {
  readonly #rule: EntryRule;
  readonly contents = new Map<string, Uint8Array[]>();
  #rest: Uint8Array = new Uint8Array();
  /** Bytes of the current entry that are still to come, with its padding. */
  #left = 0;
  #size = 0;
  #fate: EntryFate = "keep";
  #name = "";

  constructor(rule: EntryRule) {
    this.#rule = rule;
  }

  /** Returns what is kept of a chunk. */
  *pass(chunk: Uint8Array): Generator<Uint8Array> {
    let data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = new Uint8Array();
    while (data.length > 0) {
      if (this.#left > 0) {
        const part = data.subarray(0, this.#left);
        data = data.subarray(part.length);
        this.#take(part);
        if (this.#fate !== "drop") yield part;
        continue;
      }
      if (data.length < BLOCK) {
        this.#rest = data.slice();
        return;
      }
      const header = data.subarray(0, BLOCK);
      data = data.subarray(BLOCK);
      this.#begin(header);
      if (this.#fate !== "drop") yield header;
    }
  }

  /** Returns the text of an entry that was read; `undefined` if there was none. */
  text(name: string): string | undefined {
    const parts = this.contents.get(name);
    return parts && new TextDecoder().decode(Buffer.concat(parts));
  }

  #begin(header: Uint8Array): void {
    this.#name = nameOf(header);
    this.#size = Number.parseInt(textOf(header, 124, 12), 8) || 0;
    this.#left = Math.ceil(this.#size / BLOCK) * BLOCK;
    // The end of an archive is a block without a name.
    this.#fate = this.#name === "" ? "keep" : this.#rule(this.#name);
    if (this.#fate === "read") this.contents.set(this.#name, []);
  }

  #take(part: Uint8Array): void {
    this.#left -= part.length;
    if (this.#fate === "read") this.contents.get(this.#name)!.push(part.slice(0, Math.max(0, this.#size)));
    this.#size -= part.length;
  }
}

function nameOf(header: Uint8Array): string {
  const prefix = textOf(header, 345, 155);
  const name = textOf(header, 0, 100);
  return prefix === "" || !textOf(header, 257, 6).startsWith("ustar") ? name : `${prefix}/${name}`;
}

function textOf(header: Uint8Array, from: number, length: number): string {
  const text = new TextDecoder("latin1").decode(header.subarray(from, from + length));
  const end = text.indexOf("\0");
  return (end === -1 ? text : text.slice(0, end)).trim();
}
