import type { Place } from "./compose_node.ts";

/** Input for reading a compose file and the files merged over it. */
export interface LayerRequest {
  readonly paths: readonly { readonly path: string; readonly name: string; readonly required: Place | null }[];
  readonly folder: string;
  readonly variables: ReadonlyMap<string, string>;
  readonly variablesFile: string | null;
  /** The files that led here by `include`. */
  readonly chain: readonly string[];
}
