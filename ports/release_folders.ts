import type { TreeEntry } from "./upload_files.ts";

/** The folders that deployments are built and run in, one each, below the data folder. */
export interface ReleaseFolders {
  /** Makes an empty folder for a deployment, whatever was there before, and resolves to its absolute path. */
  make(deploymentId: string): Promise<string>;
  /** The path of a deployment's folder, if it is there and was finished. */
  find(deploymentId: string): Promise<string | undefined>;
  /** Marks a folder as finished: it survives a restart as an artifact. */
  finish(deploymentId: string): Promise<void>;
  /** Removes a folder; an absent one is no error. */
  remove(deploymentId: string): Promise<void>;
  /** Fills the fresh folder of a deployment with a copy of another one's finished folder; `false` when that is not there. */
  copy(fromDeploymentId: string, toDeploymentId: string): Promise<boolean>;
  /** The entries of a deployment's folder, sorted by path, links never followed; `node_modules` and `.git` left out. */
  entries(deploymentId: string): AsyncIterable<TreeEntry>;
  /** Reads one regular file of it, not through links that leave it; `undefined` when absent or over `maxBytes`. */
  read(deploymentId: string, path: string, options: { readonly maxBytes: number }): Promise<Uint8Array | undefined>;
  /** Every deployment id that occupies space. */
  list(): AsyncIterable<string>;
}
