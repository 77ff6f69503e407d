/** Looks at files and folders of the machine the service runs on. */
export interface HostFolders {
  /** The real path of a readable folder, every link resolved; `undefined` when there is none or it cannot be read. */
  resolve(path: string): Promise<string | undefined>;
  /** The real path of whatever is there, file, folder or socket, every link resolved; `undefined` when nothing is found there. */
  locate(path: string): Promise<string | undefined>;
}
