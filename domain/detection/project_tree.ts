/** The files of a project, as far as detection needs them. */
export interface ProjectTree {
  /** All regular files as relative paths with `/`, sorted. */
  readonly paths: readonly string[];
  /** Returns the text of a file for which `isManifest` is true; `undefined` when it is absent or unreadable. */
  text(path: string): string | undefined;
  /** Returns the same file as parsed data, if it is valid JSON, TOML, YAML or XML. */
  data(path: string): unknown;
}
