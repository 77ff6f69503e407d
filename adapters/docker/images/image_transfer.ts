import { invalid } from "../../../domain/failure.ts";
import type { ImageTransfer, TransferOptions } from "../../../ports/deployments/image_transfer.ts";
import { sentImage } from "../../shared/sent_image.ts";
import type { EngineApi } from "../engine/engine_api.ts";
import { refused } from "../engine/refusals.ts";
import { TarEntries } from "./tar_entries.ts";
import { ThinnedArchive } from "./thinned_archive.ts";

interface ImageRecord {
  readonly RootFS?: { readonly Layers?: readonly string[] | null } | null;
}

/** How an archive was received: with the bytes that were sent, or with the reason why the image is not there. */
type Loaded = { readonly bytes: number } | { readonly cause: unknown };

const MANIFEST = "manifest.json";
const AT_ONCE = 8;

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

  async send(image: string, options: TransferOptions): Promise<void> {
    await this.#send(image, options).catch(refused("copy the image to the server"));
  }

  async #send(image: string, { log, signal }: TransferOptions): Promise<void> {
    if (await this.#has(image, signal)) return;
    const record = await this.#from.known<ImageRecord>("GET", `/images/${image}/json`, { signal });
    if (!record) throw invalid("image_missing", "Cannot copy the image to the server: it is gone from this machine");
    const layers = record.RootFS?.Layers ?? [];
    const known = await this.#knownLayers(layers, signal);
    if (known > 0) {
      const loaded = await this.#load(image, await this.#files(image, known, signal), signal);
      if ("bytes" in loaded) return log(sentImage({ ...loaded, layers: layers.length - known }));
    }
    // Some engines need every layer in the archive.
    const loaded = await this.#load(image, new Set(), signal);
    if ("cause" in loaded) throw notAccepted(loaded.cause);
    log(sentImage({ ...loaded, layers: layers.length }));
  }

  async #has(image: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#to.known("GET", `/images/${image}/json`, { signal })) !== undefined;
  }

  /** Returns how many of the first layers the server has, as the first layers of one of its images. */
  async #knownLayers(layers: readonly string[], signal: AbortSignal): Promise<number> {
    const listed = await this.#to.json<readonly { readonly Id: string }[]>("GET", "/images/json", { signal });
    const waiting = [...listed];
    let most = 0;
    const look = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const other = await this.#to.known<ImageRecord>("GET", `/images/${next.Id}/json`, { signal });
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

  /** Sends the archive without these files. */
  async #load(image: string, without: ReadonlySet<string>, signal: AbortSignal): Promise<Loaded> {
    const archive = new ThinnedArchive(await this.#archive(image, signal), without);
    const headers = { "content-type": "application/x-tar" };
    const request = { query: { quiet: true }, body: archive.body, headers, signal, timeoutMs: null };
    let cause: unknown;
    try {
      cause = await (await this.#to.request("POST", "/images/load", request)).text();
    } catch (error) {
      signal.throwIfAborted();
      if (archive.failure) throw archive.failure;
      // An engine that refuses an archive may not read it to its end, which looks like one that is away.
      cause = error;
    } finally {
      archive.close();
    }
    return (await this.#has(image, signal)) ? { bytes: archive.bytes } : { cause };
  }

  async #archive(image: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const answer = await this.#from.request("GET", `/images/${image}/get`, { signal, timeoutMs: null });
    return answer.body ?? new ReadableStream<Uint8Array>();
  }
}

function notAccepted(cause: unknown) {
  const message =
    "Cannot copy the image to the server: its container engine did not accept it. Check that the server has disk space left; the log of the engine says more";
  return invalid("image_refused", message, { cause });
}
