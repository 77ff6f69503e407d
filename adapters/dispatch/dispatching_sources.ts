import type { Commit } from "../../domain/deployments/commit.ts";
import type { FetchableSource, FetchTarget, Sources } from "../../ports/projects/sources.ts";

/** One adapter for each kind of source. */
export type SourcesByKind = { readonly [Kind in FetchableSource["kind"]]: Sources<Kind> };

/** Dispatches every source to the adapter of its kind. */
export class DispatchingSources implements Sources {
  readonly #byKind: SourcesByKind;

  constructor(byKind: SourcesByKind) {
    this.#byKind = byKind;
  }

  async fetch(source: FetchableSource, into: FetchTarget): Promise<Commit> {
    switch (source.kind) {
      case "git":
        return this.#byKind.git.fetch(source, into);
      case "local":
        return this.#byKind.local.fetch(source, into);
      case "upload":
        return this.#byKind.upload.fetch(source, into);
    }
  }
}
