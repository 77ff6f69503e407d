import { invalid } from "../../domain/failure.ts";
import type { ImageTransfer, TransferOptions } from "../../ports/deployments/image_transfer.ts";
import { aborted } from "../shared/deadline.ts";
import { sentImage } from "../shared/sent_image.ts";
import type { MemoryReleaseImages } from "./release_images.ts";

/** The bytes of an archive besides its layers. */
const FRAME_BYTES = 1_000;

/** Copies simulated images from one engine to another. Each of their files is a layer. */
export class MemoryImageTransfer implements ImageTransfer {
  /** What a server does with an image. May be changed at any time. */
  server: "accepts" | "refuses" | "hangs" = "accepts";
  /** The images that were sent so far. */
  readonly sent: string[] = [];
  readonly #from: MemoryReleaseImages;
  readonly #to: MemoryReleaseImages;

  constructor({ from, to }: { readonly from: MemoryReleaseImages; readonly to: MemoryReleaseImages }) {
    this.#from = from;
    this.#to = to;
  }

  async send(image: string, { log, signal }: TransferOptions): Promise<void> {
    signal.throwIfAborted();
    this.#to.mustAnswer();
    if (this.#to.has(image)) return;
    this.#from.mustAnswer();
    if (!this.#from.has(image))
      throw invalid("image_missing", "Cannot copy the image to the server: it is gone from this machine");
    if (this.server === "hangs") await aborted(signal);
    signal.throwIfAborted();
    if (this.server === "refuses")
      throw invalid("image_refused", "Cannot copy the image to the server: its container engine did not accept it");
    const layers = layersOf(this.#from, image);
    const missing = layers.slice(this.#knownOf(layers));
    this.#to.nameless.add(image);
    this.#to.files.set(image, this.#from.files.get(image) ?? new Map());
    this.sent.push(image);
    log(sentImage({ bytes: missing.join("").length + FRAME_BYTES, layers: missing.length }));
  }

  /** Returns how many of the first layers an image of the server has. */
  #knownOf(layers: readonly string[]): number {
    const known = [...this.#to.files.keys()]
      .filter((image) => this.#to.has(image))
      .map((image) => {
        const theirs = layersOf(this.#to, image);
        const first = layers.findIndex((layer, index) => theirs[index] !== layer);
        return first === -1 ? layers.length : first;
      });
    return Math.max(0, ...known);
  }
}

function layersOf({ files }: MemoryReleaseImages, image: string): readonly string[] {
  return Array.from(files.get(image) ?? [], ([path, text]) => `${path}=${text}`);
}
