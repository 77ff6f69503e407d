import type { DomainName } from "../../domain/domains/domain_name.ts";
import type { AdoptedService, Adoption } from "../../domain/migration/adoption.ts";
import type { HeldContainers } from "../../domain/migration/stack.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { ProjectCreation } from "../projects/projects.ts";

/** Stores which containers of a server became services of a project. Recipes are encrypted at rest. */
export interface Adoptions {
  /**
   * Stores a project with its free host name, its variables for production and its adopted services, all or nothing, or
   * returns which name is taken. Rejects when the variables exceed `VARIABLE_LIMITS`, and with a `conflict` failure, code
   * `already_adopted`, when a project has one of the containers.
   */
  create(
    project: Project,
    freeName: DomainName,
    adoption: Pick<Adoption, "services" | "variables">,
  ): Promise<ProjectCreation>;
  /** Returns which containers of a server projects have adopted, by container id. */
  onServer(serverId: string): Promise<HeldContainers>;
  /** Returns the ids of adopted projects without a live release. */
  unsettled(): Promise<readonly string[]>;
  /** Returns the adopted services of a project by name; none for one that was not adopted. */
  list(projectId: string): Promise<readonly AdoptedService[]>;
}
