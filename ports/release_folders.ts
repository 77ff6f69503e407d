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
  /** Every deployment id that occupies space. */
  list(): AsyncIterable<string>;
}
