import type { GitHostChoices } from "../../ports/githost/git_host_choices.ts";
import type { Database } from "./database.ts";

/** Stores what organizations have chosen about the git host in PostgreSQL. */
export class PostgresGitHostChoices implements GitHostChoices {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async isCommandLineOff(organizationId: string): Promise<boolean> {
    const [row] = await this.#database.run(
      (sql) => sql<{ command_line_off: boolean }[]>`
        select command_line_off from githost_choices where organization_id = ${organizationId}`,
    );
    return row?.command_line_off ?? false;
  }

  async setCommandLineOff(organizationId: string, off: boolean): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        insert into githost_choices (organization_id, command_line_off) values (${organizationId}, ${off})
        on conflict (organization_id) do update set command_line_off = excluded.command_line_off`,
    );
  }
}
