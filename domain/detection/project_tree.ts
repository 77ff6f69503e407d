/** The files of a project as far as they are needed to tell what it is. */
export interface ProjectTree {
  /** Every regular file, relative with `/` between its parts, sorted. */
  readonly paths: readonly string[];
  /** The text of a file for which `isManifest` is true; `undefined` when it is absent or could not be read. */
  text(path: string): string | undefined;
  /** The same file as data, when its format is JSON, TOML, YAML or XML and it could be parsed. */
  data(path: string): unknown;
}
