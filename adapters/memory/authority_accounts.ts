import type { Secret } from "../../domain/secret.ts";
import type { AuthorityAccounts } from "../../ports/domains/authority_accounts.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Keeps the keys of accounts at certificate authorities in memory. */
export class MemoryAuthorityAccounts implements AuthorityAccounts {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async key(directoryUrl: string, offered: () => Promise<Secret>): Promise<Secret> {
    const { accountKeys } = this.#tables.certificates;
    const own = accountKeys.get(directoryUrl) ?? (await offered());
    // Another process may have been faster.
    return accountKeys.getOrInsert(directoryUrl, own);
  }
}
