import { commentedJsonObject } from "../../domain/detection/text/json_text.ts";
import type { ManifestParser } from "../../ports/projects/manifest_parser.ts";

/** Parses JSON, and those texts of other formats that the constructor got. */
export class MemoryManifestParser implements ManifestParser {
  readonly #known: ReadonlyMap<string, unknown>;

  constructor(known: ReadonlyMap<string, unknown> = new Map()) {
    this.#known = known;
  }

  parse(path: string, text: string): unknown {
    return /\.jsonc?$/.test(path) ? commentedJsonObject(text) : this.#known.get(text);
  }
}
