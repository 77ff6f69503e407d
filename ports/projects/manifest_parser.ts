/** Parses the data formats of manifests. */
export interface ManifestParser {
  /**
   * Parses a file by the extension of its name: JSON (comments and trailing commas allowed), TOML, YAML (the first
   * document), XML (elements as members, repeated ones as lists, attributes as members with an `@` prefix, text of an
   * element with attributes as `#text`). Returns `undefined` for other extensions and for input that does not parse,
   * however hostile. Never throws, and never takes long.
   */
  parse(path: string, text: string): unknown;
}
