import type { LinkedRepository } from "../../domain/githost/repository_visibility.ts";
import { fullName, type RepositoryName } from "../../domain/githost/repository.ts";
import type { Project, ProjectSettings } from "../../domain/projects/project.ts";
import type { LinkedProjects } from "../../ports/githost/linked_projects.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Finds projects in memory by the repository that they are linked to. */
export class MemoryLinkedProjects implements LinkedProjects {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async repositories(organizationId: string): Promise<readonly LinkedRepository[]> {
    const own = [...this.#tables.projects.values()].filter((project) => project.organizationId === organizationId);
    return own.flatMap(({ id, settings }) => {
      const name = repositoryOf(settings);
      return name && settings.gitAccess ? [{ projectId: id, ...name }] : [];
    });
  }

  async of(name: RepositoryName): Promise<readonly Project[]> {
    const wanted = fullName(name).toLowerCase();
    const all = [...this.#tables.projects.values()];
    return copied(
      all.filter(({ settings }) => {
        const linked = repositoryOf(settings);
        return linked !== undefined && fullName(linked).toLowerCase() === wanted;
      }),
    );
  }
}

function repositoryOf({ gitOwner, gitRepo }: ProjectSettings): RepositoryName | undefined {
  return gitOwner && gitRepo ? { owner: gitOwner, repo: gitRepo } : undefined;
}
