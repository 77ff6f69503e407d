import type { ReadOptions, TreeEntry } from "../projects/upload_files.ts";

/** A release folder on disk. Only a finished one may be run. */
export interface ReleaseFolder {
  readonly path: string;
  readonly finished: boolean;
}

/** Reads the files of release folders. */
export interface ReleaseFiles {
  /**
   * Yields the entries of a deployment's folder, sorted by path, without following symlinks. Skips `node_modules` and
   * `.git`.
   */
  entries(deploymentId: string): AsyncIterable<TreeEntry>;
  /**
   * Reads one regular file, never through symlinks that leave the folder. Returns `undefined` when it is absent or too
   * large.
   */
  read(deploymentId: string, path: string, options: ReadOptions): Promise<Uint8Array | undefined>;
  /**
   * Returns the kind of a path and a digest over all names, modes and bytes below it, without following symlinks or
   * including `.git`. An empty path is the whole folder. Returns `undefined` when nothing is there; rejects with an
   * `invalid` failure, code `link_outside`, when the path itself goes through a symlink.
   */
  digest(
    deploymentId: string,
    path: string,
  ): Promise<{ readonly kind: "file" | "folder"; readonly digest: string } | undefined>;
}

/**
 * The folders that deployments are built and run in, one each, below the data folder. Malformed ids count as absent.
 */
export interface ReleaseFolders extends ReleaseFiles {
  /**
   * Creates an empty folder for a deployment, discards any previous one, and resolves to its absolute path. The path is
   * different each time, so that a process that still writes to the previous folder cannot affect this one.
   */
  make(deploymentId: string): Promise<string>;
  /** Returns a deployment's folder, if there is one. */
  find(deploymentId: string): Promise<ReleaseFolder | undefined>;
  /** Marks a folder as finished: it survives a restart as an artifact. */
  finish(deploymentId: string): Promise<void>;
  /** Removes a folder. An absent one is no error. */
  remove(deploymentId: string): Promise<void>;
  /**
   * Copies another deployment's finished folder into the fresh folder of a deployment. Returns `false` when there is
   * none.
   */
  copy(fromDeploymentId: string, toDeploymentId: string): Promise<boolean>;
  /**
   * Replaces a folder of an unfinished release with the folder in a tar, whose entries all begin with that folder's
   * name. The path is relative to the release; an empty one is the release itself. Rejects with a `Failure` for a
   * hostile or broken tar, and then leaves the existing folder unchanged.
   */
  place(deploymentId: string, path: string, tar: ReadableStream<Uint8Array>): Promise<void>;
  /** Yields every deployment id that occupies space. */
  list(): AsyncIterable<string>;
}
