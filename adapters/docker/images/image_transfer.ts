import { invalid } from "../../../domain/failure.ts";
import type { ImageTransfer } from "../../../ports/deployments/image_transfer.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { refused } from "../engine/refusals.ts";
import { TarEntries } from "./tar_entries.ts";

interface ImageRecord {
  readonly Size: number;
  readonly RootFS?: { readonly Layers?: readonly string[] | null } | null;
}

interface SendOptions {
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

const MANIFEST = "manifest.json";
const AT_ONCE = 8;
const MEGABYTE = 1_000_000;

/**
 * Copies images between two Docker Engines: one exports an archive, the other imports it. Layers that the other has are
 * left out of the archive, which engines accept.
 */
export class DockerImageTransfer implements ImageTransfer {
  readonly #from: EngineApi;
  readonly #to: EngineApi;

  constructor({ from, to }: { readonly from: EngineApi; readonly to: EngineApi }) {
    this.#from = from;
    this.#to = to;
  }

  async send(image: string, options: SendOptions): Promise<void> {
    await this.#send(image, options).catch(refused("copy the image to the server"));
  }

  async #send(image: string, options: SendOptions): Promise<void> {
    if (await this.#has(image)) return;
    const record = await this.#from.known<ImageRecord>("GET", `/images/${image}/json`);
    if (!record) throw invalid("image_missing", "Cannot copy the image to the server: it is gone from this machine");
    const layers = record.RootFS?.Layers ?? [];
    const known = await this.#knownLayers(layers);
    if (known > 0) {
      const sent = await this.#load(image, { ...options, without: await this.#files(image, known, options.signal) });
      if (sent !== undefined) return options.log(sentence(sent, layers.length - known));
    }
    // Some engines need every layer in the archive.
    const sent = await this.#load(image, { ...options, without: new Set() });
    if (sent === undefined) throw invalid("image_missing", "Cannot copy the image to the server: it did not accept it");
    options.log(sentence(sent, layers.length));
  }

  async #has(image: string): Promise<boolean> {
    return (await this.#to.known("GET", `/images/${image}/json`)) !== undefined;
  }

  /** Returns how many of the first layers the server has, as the first layers of one of its images. */
  async #knownLayers(layers: readonly string[]): Promise<number> {
    const listed = await this.#to.json<readonly { readonly Id: string }[]>("GET", "/images/json");
    const waiting = [...listed];
    let most = 0;
    const look = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const other = await this.#to.known<ImageRecord>("GET", `/images/${next.Id}/json`);
        const theirs = other?.RootFS?.Layers ?? [];
        const first = layers.findIndex((layer, index) => theirs[index] !== layer);
        most = Math.max(most, first === -1 ? layers.length : first);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, look));
    return most;
  }

  /** Returns the files of the first layers in the archive of an image, which only its end names. */
  async #files(image: string, count: number, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const entries = new TarEntries((name) => (name === MANIFEST ? "read" : "drop"));
    for await (const chunk of await this.#archive(image, signal)) for (const _ of entries.pass(chunk)) continue;
    const [manifest] = JSON.parse(entries.text(MANIFEST) ?? "[]") as { readonly Layers?: readonly string[] }[];
    return new Set(manifest?.Layers?.slice(0, count) ?? []);
  }

  /** Sends the archive without these files. Returns the bytes that were sent; `undefined` if the image is not there then. */
  async #load(
    image: string,
    { signal, without }: Pick<SendOptions, "signal"> & { readonly without: ReadonlySet<string> },
  ): Promise<number | undefined> {
    const entries = new TarEntries((name) => (without.has(name) ? "drop" : "keep"));
    const archive = await this.#archive(image, signal);
    let sent = 0;
    const chunks = archive[Symbol.asyncIterator]();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        // A stream asks again only after something was enqueued, and all of a chunk may be left out.
        for (const before = sent; sent === before;) {
          const { done, value } = await chunks.next();
          if (done) return controller.close();
          for (const part of entries.pass(value)) {
            sent += part.length;
            controller.enqueue(part);
          }
        }
      },
      async cancel() {
        await chunks.return?.();
      },
    });
    try {
      const headers = { "content-type": "application/x-tar" };
      const answer = await this.#to.request("POST", "/images/load", {
        query: { quiet: true },
        body,
        headers,
        signal,
        timeoutMs: null,
      });
      await answer.text();
    } catch (error) {
      if (!(error instanceof EngineRefusal)) throw error;
    }
    return (await this.#has(image)) ? sent : undefined;
  }

  async #archive(image: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const answer = await this.#from.request("GET", `/images/${image}/get`, { signal, timeoutMs: null });
    return answer.body ?? new ReadableStream<Uint8Array>();
  }
}

function sentence(bytes: number, layers: number): string {
  const size = bytes < MEGABYTE ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / MEGABYTE).toFixed(1)} MB`;
  return `Sent the image to the server: ${layers === 1 ? "1 layer" : `${layers} layers`}, ${size}`;
}
