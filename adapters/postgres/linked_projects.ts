import type { LinkedRepository } from "../../domain/githost/repository_visibility.ts";
import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { LinkedProjects } from "../../ports/githost/linked_projects.ts";
import type { Database } from "./database.ts";
import { projectColumns, type ProjectRow, toProject } from "./projects.ts";
import { ReadMemory } from "./read_memory.ts";

/** Finds projects in PostgreSQL by the repository that they are linked to. */
export class PostgresLinkedProjects implements LinkedProjects {
  readonly #database: Database;
  readonly #reads = new ReadMemory<never>();

  constructor(database: Database) {
    this.#database = database;
  }

  async repositories(organizationId: string): Promise<readonly LinkedRepository[]> {
    const rows = await this.#database.run(
      (sql) => sql<{ readonly id: string; readonly owner: string; readonly repo: string }[]>`
        select id, settings->>'gitOwner' as owner, settings->>'gitRepo' as repo from projects
        where organization_id = ${organizationId} and settings->>'gitOwner' is not null
          and settings->>'gitAccess' = 'true'`,
    );
    return rows.map(({ id, owner, repo }) => ({ projectId: id, owner, repo }));
  }

  of({ owner, repo }: RepositoryName): Promise<readonly Project[]> {
    const [ownerKey, repoKey] = [owner.toLowerCase(), repo.toLowerCase()];
    return this.#reads.share(`${ownerKey}/${repoKey}`, async () => {
      const rows = await this.#database.run(
        (sql) => sql<ProjectRow[]>`
          select ${projectColumns(sql)} from projects
          where lower(settings->>'gitOwner') = ${ownerKey} and lower(settings->>'gitRepo') = ${repoKey}
            and settings->>'gitOwner' is not null`,
      );
      return rows.map(toProject);
    });
  }
}
