import { commentedJsonObject } from "../../domain/detection/text/json_text.ts";
import type { ManifestParser } from "../../ports/projects/manifest_parser.ts";

/** Parses JSON, and of other formats the texts it was told about. */
export class MemoryManifestParser implements ManifestParser {
  readonly #known: ReadonlyMap<string, unknown>;

  constructor(known: ReadonlyMap<string, unknown> = new Map()) {
    this.#known = known;
  }

  parse(path: string, text: string): unknown {
    return /\.jsonc?$/.test(path) ? commentedJsonObject(text) : this.#known.get(text);
  }
}
