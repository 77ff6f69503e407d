/** Looks at folders of the machine the service runs on. */
export interface HostFolders {
  /** The real path of a readable folder, every link resolved; `undefined` when there is none or it cannot be read. */
  resolve(path: string): Promise<string | undefined>;
}
