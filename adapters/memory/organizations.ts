import { conflict } from "../../domain/failure.ts";
import type { Organization } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Organizations } from "../../ports/identity/organizations.ts";
import { copied } from "./copied.ts";
import { memberKey, type MemoryTables } from "./memory_tables.ts";
import { BY_CREATION, newestFirst } from "./newest_first.ts";

/** Keeps organizations in memory. */
export class MemoryOrganizations implements Organizations {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async create(organization: Organization, ownerId: string): Promise<void> {
    const { organizations, members } = this.#tables;
    if (organizations.values().some(({ slug }) => slug === organization.slug)) {
      throw conflict("slug_taken", "Cannot create this organization: its slug is in use; choose another");
    }
    organizations.set(organization.id, copied(organization));
    members.set(memberKey(organization.id, ownerId), {
      organizationId: organization.id,
      userId: ownerId,
      role: "owner",
      grants: [],
      createdAt: new Date(organization.createdAt),
    });
  }

  async areSeveral(): Promise<boolean> {
    return this.#tables.organizations.size > 1;
  }

  async list(ids: readonly string[], page: Page): Promise<Listing<Organization>> {
    const rows = this.#tables.organizations.values().filter(({ id }) => ids.includes(id));
    return newestFirst(rows, page, BY_CREATION);
  }

  async listOf(userId: string, page: Page): Promise<Listing<Organization>> {
    const ids = this.#tables.members
      .values()
      .filter((member) => member.userId === userId)
      .map(({ organizationId }) => organizationId);
    return this.list([...ids], page);
  }
}
