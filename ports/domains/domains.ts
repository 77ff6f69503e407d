import type { DomainName } from "../../domain/domains/domain_name.ts";
import type { Listing, Page } from "../../domain/page.ts";

/** Filter of a domain list. */
export interface DomainFilter {
  readonly projectIds?: readonly string[];
  /** Only these host names. */
  readonly hostnames?: readonly string[];
}

/**
 * Stores host names and the projects they route to. A verified host name is unique in the whole installation. Until then
 * each organization may claim it once, so that nobody can keep a name from its owner.
 */
export interface Domains {
  /** Newest first. */
  list(organizationId: string, filter: DomainFilter, page: Page): Promise<Listing<DomainName>>;
  /** Lists every host name of these projects, without paging, newest first. For the engine. */
  ofProjects(projectIds: readonly string[]): Promise<readonly DomainName[]>;
  /** Lists the custom host names of all organizations that are not verified, or only the claims of one. For edges. */
  unverified(hostname?: string): Promise<readonly DomainName[]>;
  find(organizationId: string, id: string): Promise<DomainName | undefined>;
  /** Stores a host name. Returns `false` when it is verified already, or claimed by the same organization. */
  claim(domain: DomainName): Promise<boolean>;
  /**
   * Marks a host name as verified. Rejects with a `conflict` failure, code `hostname_taken`, when another organization's
   * claim was verified before.
   */
  verified(organizationId: string, id: string, at: Date): Promise<DomainName | undefined>;
  remove(organizationId: string, id: string): Promise<boolean>;
}
