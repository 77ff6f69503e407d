import { appendFileSync, renameSync, statSync } from "node:fs";

const TAIL_LINES = 20;

/** A log file that starts anew when it is full, keeping one former file, and remembers its last lines. */
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

  /** Reads lines from `stream` until it ends. */
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
      // A full disk must not take the server down for a log line; the tail in memory still has it.
    }
  }

  /** The last line that says what went wrong, without its time stamp. */
  reason(): string {
    const line = this.#tail.findLast((each) => /\b(FATAL|PANIC|ERROR|error):/.test(each)) ?? this.#tail.at(-1);
    return (line ?? "").replace(/^.*?\b(FATAL|PANIC|ERROR|LOG|error):\s*/, "").trim();
  }

  /** Forgets the remembered lines, so that the next reason is about what comes now. */
  forget(): void {
    this.#tail.length = 0;
  }
}
