import type { TreeEntry } from "../projects/upload_files.ts";

/** A folder on disk; only a finished one may be run. */
export interface ReleaseFolder {
  readonly path: string;
  readonly finished: boolean;
}

/** Looks into the folders of deployments. */
export interface ReleaseFiles {
  /** The entries of a deployment's folder, sorted by path, links never followed; `node_modules` and `.git` left out. */
  entries(deploymentId: string): AsyncIterable<TreeEntry>;
  /** Reads one regular file of it, not through links that leave it; `undefined` when absent or over `maxBytes`. */
  read(deploymentId: string, path: string, options: { readonly maxBytes: number }): Promise<Uint8Array | undefined>;
  /**
   * What lies at a path and a digest of it: of all names, modes and bytes below, links as links, `.git` left out; an empty path is the whole. `undefined` when nothing does;
   * rejects with an `invalid` failure, code `link_outside`, when the path itself leads over a link.
   */
  digest(
    deploymentId: string,
    path: string,
  ): Promise<{ readonly kind: "file" | "folder"; readonly digest: string } | undefined>;
}

/** The folders that deployments are built and run in, one each, below the data folder. Words that can be no id are never there. */
export interface ReleaseFolders extends ReleaseFiles {
  /**
   * Makes an empty folder for a deployment, whatever was there before, and resolves to its absolute path. That is another one each time: whoever still writes
   * to the former one changes nothing about this.
   */
  make(deploymentId: string): Promise<string>;
  /** A deployment's folder, if it is there. */
  find(deploymentId: string): Promise<ReleaseFolder | undefined>;
  /** Marks a folder as finished: it survives a restart as an artifact. */
  finish(deploymentId: string): Promise<void>;
  /** Removes a folder; an absent one is no error. */
  remove(deploymentId: string): Promise<void>;
  /** Fills the fresh folder of a deployment with a copy of another one's finished folder; `false` when that is not there. */
  copy(fromDeploymentId: string, toDeploymentId: string): Promise<boolean>;
  /**
   * Puts the folder that a tar holds, and whose name all its entries begin with, in the place of a folder of an unfinished release, relative to it; an empty
   * path is the release itself. Rejects with a `Failure` for a hostile or broken tar, and then leaves what was there.
   */
  place(deploymentId: string, path: string, tar: ReadableStream<Uint8Array>): Promise<void>;
  /** Every deployment id that occupies space. */
  list(): AsyncIterable<string>;
}
