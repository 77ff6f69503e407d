import type { LinkedRepository } from "../../domain/githost/repository_visibility.ts";
import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { Project } from "../../domain/projects/project.ts";

/** Finds projects by the repository of the git host that they are linked to. */
export interface LinkedProjects {
  /**
   * Returns the repositories that members who see them have linked to the projects of an organization, one entry per
   * project.
   */
  repositories(organizationId: string): Promise<readonly LinkedRepository[]>;
  /** Returns the projects of all organizations that are linked to a repository, whose name is compared without case. */
  of(name: RepositoryName): Promise<readonly Project[]>;
}
