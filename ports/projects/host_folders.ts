/** Resolves paths on the machine that the server runs on. */
export interface HostFolders {
  /**
   * Returns the real path of a readable folder, all symlinks resolved, or `undefined` when it is missing or unreadable.
   */
  resolve(path: string): Promise<string | undefined>;
  /**
   * Returns the real path of a file, folder or socket, all symlinks resolved, or `undefined` when nothing is found
   * there.
   */
  locate(path: string): Promise<string | undefined>;
}
