import { type DomainName, HOSTNAME_TAKEN } from "../../domain/domains/domain_name.ts";
import { conflict } from "../../domain/failure.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { DomainFilter, Domains } from "../../ports/domains/domains.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";
import { BY_CREATION, newestFirst } from "./newest_first.ts";

/** Keeps domains (host names) in memory. */
export class MemoryDomains implements Domains {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async list(organizationId: string, filter: DomainFilter, page: Page): Promise<Listing<DomainName>> {
    const { projectIds, hostnames } = filter;
    const rows = this.#tables.domains
      .values()
      .filter((domain) => domain.organizationId === organizationId)
      .filter(({ projectId }) => !projectIds || projectIds.includes(projectId))
      .filter(({ hostname }) => !hostnames || hostnames.includes(hostname));
    return newestFirst(rows, page, BY_CREATION);
  }

  async ofProjects(projectIds: readonly string[]): Promise<readonly DomainName[]> {
    const rows = this.#tables.domains.values().filter(({ projectId }) => projectIds.includes(projectId));
    return newestFirst(rows, { page: 1, perPage: Number.MAX_SAFE_INTEGER }, BY_CREATION).items;
  }

  async unverified(hostname?: string): Promise<readonly DomainName[]> {
    const waiting = [...this.#tables.domains.values()]
      .filter(({ type, verifiedAt }) => type === "custom" && verifiedAt === null)
      .filter((domain) => hostname === undefined || domain.hostname === hostname);
    return copied(waiting.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1)));
  }

  async find(organizationId: string, id: string): Promise<DomainName | undefined> {
    return copied(this.#stored(organizationId, id));
  }

  async claim(domain: DomainName): Promise<boolean> {
    if (this.#tables.isHostnameTaken(domain)) return false;
    this.#tables.domains.set(domain.id, copied(domain));
    if (domain.verifiedAt) this.#tables.certificates.due();
    else if (domain.type === "custom") this.#tables.certificates.changed(domain.hostname);
    return true;
  }

  async verified(organizationId: string, id: string, at: Date): Promise<DomainName | undefined> {
    const domain = this.#stored(organizationId, id);
    if (!domain) return undefined;
    const others = this.#tables.domains.values().filter((other) => other.id !== id);
    if (others.some(({ hostname, verifiedAt }) => verifiedAt !== null && hostname === domain.hostname))
      throw conflict("hostname_taken", HOSTNAME_TAKEN);
    const proven = { ...domain, verifiedAt: new Date(at) };
    this.#tables.domains.set(id, proven);
    this.#tables.certificates.changed(domain.hostname);
    this.#tables.certificates.due();
    return copied(proven);
  }

  async remove(organizationId: string, id: string): Promise<boolean> {
    return this.#stored(organizationId, id) !== undefined && this.#tables.removeDomain(id);
  }

  #stored(organizationId: string, id: string): DomainName | undefined {
    const domain = this.#tables.domains.get(id);
    return domain?.organizationId === organizationId ? domain : undefined;
  }
}

function sortKey({ hostname, id }: DomainName): string {
  return `${hostname} ${id}`;
}
