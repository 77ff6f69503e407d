/** Reads the data formats that manifests are written in. */
export interface ManifestParser {
  /**
   * What a file says, by the ending of its name: JSON (comments and trailing commas allowed), TOML, YAML (the first document), XML (elements as
   * members, repeated ones as lists, attributes as members with `@` before their name, text of an element with attributes as `#text`).
   * `undefined` for other endings and for what cannot be read, however hostile; never throws, and never takes long.
   */
  parse(path: string, text: string): unknown;
}
