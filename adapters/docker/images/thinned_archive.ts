import type { Failure } from "../../../domain/failure.ts";
import { away } from "../engine/engine_api.ts";
import { TarEntries } from "./tar_entries.ts";

/** The archive of an image as it is sent: without some of its files. */
export class ThinnedArchive {
  /** What is sent. */
  readonly body: ReadableStream<Uint8Array>;
  /** How many bytes were read from `body`. */
  bytes = 0;
  /** Set once the engine that the archive comes from has broken it off. */
  failure: Failure | undefined;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #entries: TarEntries;

  constructor(archive: AsyncIterable<Uint8Array>, without: ReadonlySet<string>) {
    this.#chunks = archive[Symbol.asyncIterator]();
    this.#entries = new TarEntries((name) => (without.has(name) ? "drop" : "keep"));
    this.body = new ReadableStream({
      pull: (controller) => this.#pull(controller),
      cancel: () => this.close(),
    });
  }

  /** Ends the response that the archive comes from, if it has not ended. */
  close(): void {
    void this.#chunks.return?.().catch(() => {});
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    // A stream asks again only after something was enqueued, and all of a chunk may be left out.
    for (const before = this.bytes; this.bytes === before;) {
      const { done, value } = await this.#next();
      if (done) return controller.close();
      for (const part of this.#entries.pass(value)) {
        this.bytes += part.length;
        controller.enqueue(part);
      }
    }
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    try {
      return await this.#chunks.next();
    } catch (cause) {
      throw (this.failure = away("its response ended early", cause));
    }
  }
}
