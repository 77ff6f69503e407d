import type { DomainName } from "../../domain/domains/domain_name.ts";
import type { Listing, Page } from "../../domain/page.ts";

/** Filter of a domain list. */
export interface DomainFilter {
  readonly projectIds?: readonly string[];
  /** Only these host names. */
  readonly hostnames?: readonly string[];
}

/** Stores host names and the projects they route to. A host name is unique in the whole installation. */
export interface Domains {
  /** Newest first. */
  list(organizationId: string, filter: DomainFilter, page: Page): Promise<Listing<DomainName>>;
  /** Lists every host name of these projects, without paging, newest first. For the engine. */
  ofProjects(projectIds: readonly string[]): Promise<readonly DomainName[]>;
  find(organizationId: string, id: string): Promise<DomainName | undefined>;
  /**
   * Stores a host name. Replaces only another organization's unverified claim made before `staleBefore`; returns
   * `false` when the name is taken.
   */
  claim(domain: DomainName, options: { readonly staleBefore: Date }): Promise<boolean>;
  verified(organizationId: string, id: string, at: Date): Promise<DomainName | undefined>;
  remove(organizationId: string, id: string): Promise<boolean>;
}
