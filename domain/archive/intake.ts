import { type ArchiveLimits, checkBytes } from "./archive_limits.ts";
import { refusal } from "./refusal.ts";

/** The part of a stream reader that is used here. */
interface ByteReader {
  read(): Promise<{ readonly value?: Uint8Array | undefined }>;
  cancel(reason: unknown): Promise<void>;
}

/** Passes the compressed bytes through while they look like gzip and stay within the limit. */
export class Intake {
  /** The number of bytes passed through so far. */
  bytes = 0;
  /** The first error. Kept here because a decompressor may replace the error of its source with its own. */
  failure: unknown;
  readonly #reader: ByteReader;
  readonly #limits: ArchiveLimits;
  readonly #onBytes: ((bytes: Uint8Array) => void) | undefined;

  constructor(archive: ReadableStream<Uint8Array>, limits: ArchiveLimits, onBytes?: (bytes: Uint8Array) => void) {
    this.#reader = archive.getReader();
    this.#limits = limits;
    this.#onBytes = onBytes;
  }

  /** Returns the same bytes with backpressure: reads only on demand. Call once. */
  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const chunk = await this.#next();
            if (chunk === undefined) controller.close();
            else controller.enqueue(chunk);
          } catch (error) {
            this.failure = error;
            controller.error(error);
            await this.#reader.cancel(error).catch(() => {});
          }
        },
        cancel: (reason) => this.#reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  async #next(): Promise<Uint8Array | undefined> {
    const { value } = await this.#reader.read().catch((error: unknown) => {
      throw refusal("upload_interrupted", "it ended early; send it again", error);
    });
    if (value === undefined) {
      if (this.bytes === 0) throw refusal("upload_empty", "the upload is empty; send a gzipped tar of the folder");
      return undefined;
    }
    this.#checkMagic(value);
    this.bytes += value.length;
    checkBytes(this.bytes, this.#limits);
    this.#onBytes?.(value);
    return value;
  }

  #checkMagic(chunk: Uint8Array): void {
    for (const [index, magic] of [0x1f, 0x8b].entries()) {
      const byte = chunk[index - this.bytes];
      if (byte === undefined || byte === magic) continue;
      throw refusal("archive_not_gzip", "it is not a gzipped tar; send what `tar -czf` makes");
    }
  }
}
