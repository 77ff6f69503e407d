/** Looks up servers that deployments run on, without knowing the organization. */
export interface ServerOwners {
  /** Returns the organization that a server belongs to; `undefined` for a server that does not exist. */
  organizationOf(serverId: string): Promise<string | undefined>;
  /** Records that something is put into containers on a server. Does nothing for a server that does not exist. */
  noteContainers(serverId: string): Promise<void>;
  /**
   * Returns the ids of the servers with `noteContainers()`, in order. A server stays in use until it is deleted, because
   * something may be left there when its last project has moved away or was deleted.
   */
  inUse(): Promise<readonly string[]>;
}
