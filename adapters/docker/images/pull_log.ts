import type { BuildMessage } from "../build/build_messages.ts";

const EVERY_MS = 10_000;
const LAYER_DONE = /^(?:Pull complete|Already exists)$/;
const LAYER = /^(?:Pulling fs layer|Waiting|Downloading|Verifying Checksum|Download complete|Extracting)$/;

interface Layer {
  bytes: number;
  done: boolean;
}

/** Condenses the many messages of a pull into a few log lines: progress from time to time, and a summary at the end. */
export class PullLog {
  readonly #layers = new Map<string, Layer>();
  readonly #everyMs: number;
  #reportedAt = performance.now();
  #digest: string | undefined;

  constructor({ everyMs = EVERY_MS }: { readonly everyMs?: number } = {}) {
    this.#everyMs = everyMs;
  }

  /** Returns a progress line if one is due. */
  take({ id, status = "", progressDetail }: BuildMessage): string | undefined {
    this.#digest ??= /^Digest: (sha256:[0-9a-f]{64})$/.exec(status)?.[1];
    if (id === undefined || !(LAYER.test(status) || LAYER_DONE.test(status))) return undefined;
    const layer = this.#layers.get(id) ?? { bytes: 0, done: false };
    this.#layers.set(id, layer);
    if (status === "Downloading") layer.bytes = Math.max(layer.bytes, progressDetail?.total ?? 0);
    if (LAYER_DONE.test(status)) layer.done = true;
    if (performance.now() - this.#reportedAt < this.#everyMs) return undefined;
    this.#reportedAt = performance.now();
    return `${this.#done()} of ${this.#layers.size} layers are pulled`;
  }

  /** Returns a summary of the pull. */
  summary(): string {
    const bytes = [...this.#layers.values()].reduce((sum, layer) => sum + layer.bytes, 0);
    const layers = this.#layers.size === 0 ? "nothing new" : `${this.#layers.size} layers, ${megabytes(bytes)} MB`;
    return this.#digest === undefined ? layers : `${layers}, ${this.#digest}`;
  }

  #done(): number {
    return [...this.#layers.values()].filter(({ done }) => done).length;
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
