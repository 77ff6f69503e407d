import type { BuiltImage } from "./image_builder.ts";
import type { ImageOwner } from "./release_images.ts";

/** Input of a pull. */
export interface PullRequest {
  /** As users write it: `postgres:16`, `registry.example.com/shop@sha256:…`. */
  readonly reference: string;
  /** When to query the registry: only for an image that is not on the engine, always, or never. */
  readonly pull: "missing" | "always" | "never";
  /** The owner that the image is kept for. */
  readonly owner: ImageOwner;
  readonly signal: AbortSignal;
  /** Runs once the image is on the engine. Rejects when it must not be kept after all. */
  readonly confirm?: () => Promise<void>;
  /** Receives a line. A returned promise applies backpressure until it resolves. */
  readonly log: (line: string, stream: "stdout" | "stderr") => void | Promise<void>;
}

/** Pulls images from registries. */
export interface ImageRegistry {
  /**
   * Pulls an image to the engine and resolves to its digest and port. Rejects with an `invalid` failure: code
   * `image_missing` when it is unavailable, with the registry's own message, or `image_foreign` for one that this
   * installation created for another project. Rejects with an `unavailable` failure, code `engine_away`, when the
   * engine does not answer. Aborting makes the engine end the pull and rejects with the signal's reason at once.
   */
  fetch(request: PullRequest): Promise<BuiltImage>;
}
