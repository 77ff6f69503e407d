/** Looks up servers that deployments run on, without knowing the organization. */
export interface ServerOwners {
  /** Returns the organization that a server belongs to; `undefined` for a server that does not exist. */
  organizationOf(serverId: string): Promise<string | undefined>;
  /** Returns the ids of the servers that projects run on, in order. */
  inUse(): Promise<readonly string[]>;
}
