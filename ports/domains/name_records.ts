/** Looks names up in DNS. Rejects with an `unavailable` failure, code `name_lookup_failed`, when no server answers. */
export interface NameRecords {
  /**
   * Returns all IPv4 and IPv6 addresses of a host name, or none when the name does not exist. An address resolves to
   * itself.
   */
  addresses(host: string, options?: { readonly signal?: AbortSignal }): Promise<readonly string[]>;
  /** Returns the TXT records of a name, each joined to one string, or none. */
  texts(name: string, options?: { readonly signal?: AbortSignal }): Promise<readonly string[]>;
}
