import type { DomainName } from "../../domain/domains/domain_name.ts";
import type { Listing, Page } from "../../domain/page.ts";

/** What a list of names is limited to. */
export interface DomainFilter {
  readonly projectIds?: readonly string[];
  /** Only these names. */
  readonly hostnames?: readonly string[];
}

/** Host names and the projects they lead to; a host name stands once in the whole installation. */
export interface Domains {
  /** Newest first; the filter limits the list. */
  list(organizationId: string, filter: DomainFilter, page: Page): Promise<Listing<DomainName>>;
  /** Every name of these projects, however many, newest first; for the engine. */
  ofProjects(projectIds: readonly string[]): Promise<readonly DomainName[]>;
  find(organizationId: string, id: string): Promise<DomainName | undefined>;
  /** Stores a name, displacing only another organization's unproven claim made before `staleBefore`; `false` when the name is taken. */
  claim(domain: DomainName, options: { readonly staleBefore: Date }): Promise<boolean>;
  verified(organizationId: string, id: string, at: Date): Promise<DomainName | undefined>;
  remove(organizationId: string, id: string): Promise<boolean>;
}
