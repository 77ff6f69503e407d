/**
 * Keeps the source that each deployment from a folder was built from, exactly as fetched, by deployment id. A build
 * changes only a copy of it. Malformed ids count as absent.
 */
export interface KeptSources {
  /**
   * Stores what `fill` writes into an empty folder, and replaces what was kept for this deployment. Nothing changes
   * unless `fill` resolves; its rejection is passed on. The files must never change afterwards.
   */
  keep(deploymentId: string, fill: (folder: string) => Promise<void>): Promise<void>;
  /**
   * Keeps the files of one deployment for another one too, without using disk space again where the file system can
   * share it. Returns `false` when there are none.
   */
  share(
    fromDeploymentId: string,
    toDeploymentId: string,
    options?: {
      /** Runs once all files are in place. Rejects when they must not be kept after all. */
      readonly confirm?: () => Promise<void>;
    },
  ): Promise<boolean>;
  /**
   * Copies the kept source into an existing empty folder, where it may be changed freely. Returns `false` when nothing
   * is kept. Rejects with the signal's reason when aborted.
   */
  copyTo(deploymentId: string, folder: string, options?: { readonly signal?: AbortSignal }): Promise<boolean>;
  /** Returns whether a source is kept for a deployment. */
  has(deploymentId: string): Promise<boolean>;
  /**
   * Removes the source of a deployment, unfinished parts included. Files shared with other deployments stay for those.
   * An absent one is no error.
   */
  remove(deploymentId: string): Promise<void>;
  /** Yields every deployment id that occupies space. */
  list(): AsyncIterable<string>;
}
