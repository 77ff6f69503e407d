/** Looks names up in the domain name system. Rejects with an `unavailable` failure, code `name_lookup_failed`, when no server answers. */
export interface NameRecords {
  /** All IPv4 and IPv6 addresses of a host name; empty when the name does not exist. An address resolves to itself. */
  addresses(host: string, options?: { readonly signal?: AbortSignal }): Promise<readonly string[]>;
  /** The TXT records of a name, each joined to one string; empty when there are none. */
  texts(name: string, options?: { readonly signal?: AbortSignal }): Promise<readonly string[]>;
}
