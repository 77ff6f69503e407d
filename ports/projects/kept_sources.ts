/**
 * Keeps what deployments from a folder were built from, exactly as it was fetched, by deployment: a build changes only a copy of it. Words that can be no id
 * are never there.
 */
export interface KeptSources {
  /**
   * Keeps what `fill` puts into an empty folder, in the place of what was kept for this deployment. Nothing changes unless `fill` resolves; why it rejects
   * is passed on. Nobody may change the files afterwards.
   */
  keep(deploymentId: string, fill: (folder: string) => Promise<void>): Promise<void>;
  /** Keeps the files of one deployment for another one too, without taking their space again where the disk can; `false` when there are none. */
  share(
    fromDeploymentId: string,
    toDeploymentId: string,
    options?: {
      /** Rejects when it is not to be kept after all; asked once everything is there. */
      readonly confirm?: () => Promise<void>;
    },
  ): Promise<boolean>;
  /** Copies what is kept into an existing empty folder, to be changed there at will; `false` when nothing is. Rejects when aborted with the signal's reason. */
  copyTo(deploymentId: string, folder: string, options?: { readonly signal?: AbortSignal }): Promise<boolean>;
  /** Whether something is kept for a deployment. */
  has(deploymentId: string): Promise<boolean>;
  /** Removes what is kept for a deployment, unfinished parts included; what others share stays theirs. An absent one is no error. */
  remove(deploymentId: string): Promise<void>;
  /** Every deployment id that occupies space. */
  list(): AsyncIterable<string>;
}
