import type { GitHostChoices } from "../../ports/githost/git_host_choices.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Keeps what organizations have chosen about the git host in memory. */
export class MemoryGitHostChoices implements GitHostChoices {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async isCommandLineOff(organizationId: string): Promise<boolean> {
    return this.#tables.commandLineOff.has(organizationId);
  }

  async setCommandLineOff(organizationId: string, off: boolean): Promise<void> {
    if (off) this.#tables.commandLineOff.add(organizationId);
    else this.#tables.commandLineOff.delete(organizationId);
  }
}
