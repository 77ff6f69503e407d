import type { Secret } from "../../domain/secret.ts";
import type { CloudAddress } from "../../ports/cloud/cloud_api.ts";
import type { CloudLink, CloudLinks } from "../../ports/cloud/cloud_links.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Keeps links to the hosted cloud in memory. */
export class MemoryCloudLinks implements CloudLinks {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async find(organizationId: string): Promise<CloudLink | undefined> {
    return copied(this.#tables.cloudLinks.get(organizationId)?.link);
  }

  async address(organizationId: string): Promise<CloudAddress | undefined> {
    const stored = this.#tables.cloudLinks.get(organizationId);
    return stored && { url: stored.link.url, token: stored.token };
  }

  async put(link: CloudLink, token: Secret): Promise<void> {
    this.#tables.cloudLinks.set(link.organizationId, { link: copied(link), token });
  }

  async remove(organizationId: string): Promise<boolean> {
    return this.#tables.cloudLinks.delete(organizationId);
  }
}
