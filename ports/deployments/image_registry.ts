import type { BuiltImage } from "./image_builder.ts";
import type { ImageOwner } from "./release_images.ts";

/** What is wanted from a registry. */
export interface PullRequest {
  /** As people write it: `postgres:16`, `registry.example.com/shop@sha256:…`. */
  readonly reference: string;
  /** Whether to ask the registry: only for what is not on the engine, always, or never. */
  readonly pull: "missing" | "always" | "never";
  /** Whose it is kept as from then on. */
  readonly owner: ImageOwner;
  readonly signal: AbortSignal;
  /** Rejects when the image must not be kept after all; asked when it is there. */
  readonly confirm?: () => Promise<void>;
  /** Takes a line; a promise asks to go on only once it resolved. */
  readonly log: (line: string, stream: "stdout" | "stderr") => void | Promise<void>;
}

/** Images that others made. */
export interface ImageRegistry {
  /**
   * Brings an image to the engine and resolves to what it is. Rejects with an `invalid` failure, code `image_missing`, when it cannot be had, with the registry's own words,
   * `image_foreign` for one that this installation made for another project; with an `unavailable` one, code `engine_away`, when the engine does not answer.
   * Aborting has the engine end it, and rejects with the signal's reason at once.
   */
  fetch(request: PullRequest): Promise<BuiltImage>;
}
