import { setImmediate as breathe } from "node:timers/promises";
import type { OutputLine } from "../../ports/services/runtime.ts";
import { OutputStore, type Progress } from "./output_store.ts";
import { RawOutput } from "./raw_output.ts";

const STREAMS = ["stdout", "stderr"] as const;
const MOST_ROUNDS = 16;

/** Returns whether all output that an instance has written so far was read, by whichever process. */
export function hasReader(folder: string): boolean {
  const progress = new OutputStore(folder).progress();
  return STREAMS.every((stream) => new RawOutput(folder, stream).size === progress[stream]);
}

/**
 * Converts the output of an instance to numbered lines, each exactly once, across restarts of the program and of the
 * server.
 */
export class OutputPump {
  readonly #store: OutputStore;
  readonly #raw: Readonly<Record<(typeof STREAMS)[number], RawOutput>>;
  #progress: Progress;
  #running: Promise<void> | undefined;

  constructor(folder: string) {
    this.#store = new OutputStore(folder);
    this.#raw = { stdout: new RawOutput(folder, "stdout"), stderr: new RawOutput(folder, "stderr") };
    this.#progress = this.#store.recover();
  }

  /** Reads the output written so far, a bounded amount per call. `last` means that no more will come. */
  pump(options: { readonly last: boolean }): Promise<void> {
    this.#running = (this.#running ?? Promise.resolve()).catch(() => {}).then(() => this.#pump(options));
    return this.#running;
  }

  /** Reads all output of a program that has ended. */
  drain(): Promise<void> {
    this.#running = (this.#running ?? Promise.resolve()).catch(() => {}).then(() => this.#drain());
    return this.#running;
  }

  /** Appends a line of Slipway's own after all output of a program that has ended. */
  note(message: string): Promise<void> {
    this.#running = this.drain().then(() => {
      const progress = { ...this.#progress, seq: this.#progress.seq + 1 };
      this.#store.append([{ seq: progress.seq, at: new Date(), stream: "slipway", message }], progress);
      this.#progress = progress;
    });
    return this.#running;
  }

  async #drain(): Promise<void> {
    while (this.#once({ last: true })) await breathe();
  }

  async #pump(options: { readonly last: boolean }): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      if (!this.#once(options)) return;
      await breathe();
    }
  }

  /** Reads one block of each stream. Returns whether there was any new output. */
  #once(options: { readonly last: boolean }): boolean {
    const at = new Date();
    const lines: OutputLine[] = [];
    const before = this.#progress;
    const progress = { ...before };
    for (const stream of STREAMS) {
      const taken = this.#raw[stream].take(before[stream], options);
      progress[stream] = taken.end;
      const from = taken.isNote ? "slipway" : stream;
      for (const message of taken.lines) lines.push({ seq: ++progress.seq, at, stream: from, message });
    }
    if (STREAMS.every((stream) => progress[stream] === before[stream])) return false;
    this.#store.append(lines, progress);
    this.#progress = progress;
    for (const stream of STREAMS) this.#raw[stream].free(progress[stream]);
    return true;
  }
}
