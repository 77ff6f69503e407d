import { appendFileSync, renameSync, statSync } from "node:fs";

const TAIL_LINES = 20;

/** A size-limited log file: rotates when it is full, keeping one old file, and keeps its last lines in memory. */
export class BoundedLog {
  readonly #file: string;
  readonly #maxBytes: number;
  readonly #tail: string[] = [];
  #size: number;

  constructor(file: string, maxBytes = 4 * 1024 * 1024) {
    this.#file = file;
    this.#maxBytes = maxBytes;
    this.#size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Appends the lines of `stream` until it ends. */
  async follow(stream: ReadableStream<Uint8Array>): Promise<void> {
    let rest = "";
    for await (const text of stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      this.append(lines);
    }
    if (rest) this.append([rest]);
  }

  append(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.#tail.push(...lines.slice(-TAIL_LINES));
    this.#tail.splice(0, this.#tail.length - TAIL_LINES);
    const text = `${lines.join("\n")}\n`;
    try {
      if (this.#size > this.#maxBytes) {
        renameSync(this.#file, `${this.#file}.old`);
        this.#size = 0;
      }
      appendFileSync(this.#file, text, { mode: 0o600 });
      this.#size += Buffer.byteLength(text);
    } catch {
      // A full disk must not crash the server for a log line; the tail in memory still has it.
    }
  }

  /** Returns the last line that reports an error, without its timestamp. */
  reason(): string {
    const line = this.#tail.findLast((each) => /\b(FATAL|PANIC|ERROR|error):/.test(each)) ?? this.#tail.at(-1);
    return (line ?? "").replace(/^.*?\b(FATAL|PANIC|ERROR|LOG|error):\s*/, "").trim();
  }

  /** Clears the lines in memory, so that the next reason is about the next run. */
  forget(): void {
    this.#tail.length = 0;
  }
}
