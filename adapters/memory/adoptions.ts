import { compareKeys } from "../../domain/backups/object_key.ts";
import type { DomainName } from "../../domain/domains/domain_name.ts";
import { conflict } from "../../domain/failure.ts";
import { ALREADY_ADOPTED, type AdoptedService, type Adoption } from "../../domain/migration/adoption.ts";
import type { HeldContainers } from "../../domain/migration/stack.ts";
import type { Project } from "../../domain/projects/project.ts";
import { checkVariableTotals, valueBytes } from "../../domain/projects/variable.ts";
import type { Adoptions } from "../../ports/migration/adoptions.ts";
import type { ProjectCreation } from "../../ports/projects/projects.ts";
import type { MemoryTables } from "./memory_tables.ts";
import { MemoryProjects } from "./projects.ts";

/** Keeps adopted services in memory. */
export class MemoryAdoptions implements Adoptions {
  readonly #tables: MemoryTables;
  readonly #projects: MemoryProjects;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
    this.#projects = new MemoryProjects(tables);
  }

  async create(
    project: Project,
    freeName: DomainName,
    { services, variables }: Pick<Adoption, "services" | "variables">,
  ): Promise<ProjectCreation> {
    const bytes = variables.reduce((sum, variable) => sum + valueBytes(variable), 0);
    checkVariableTotals({ count: variables.length, bytes });
    const held = [...this.#tables.adoptedServices.values()].flat();
    const isHeld = services.some((one) =>
      held.some((other) => other.serverId === one.serverId && other.containerId === one.containerId),
    );
    if (isHeld) throw conflict("already_adopted", ALREADY_ADOPTED);
    const outcome = await this.#projects.create(project, freeName);
    if (outcome !== "created") return outcome;
    const at = project.createdAt;
    const rows = variables.map(
      ({ key, value, secret = false }) => [key, { value, secret, updatedAt: new Date(at) }] as const,
    );
    this.#tables.variables.production.set(project.id, new Map(rows));
    this.#tables.adoptedServices.set(project.id, [...services]);
    return outcome;
  }

  async onServer(serverId: string): Promise<HeldContainers> {
    const held = [...this.#tables.adoptedServices].flatMap(([projectId, services]) => {
      const projectName = this.#tables.projects.get(projectId)?.name ?? "";
      return services
        .filter((adopted) => adopted.serverId === serverId)
        .map(({ containerId, service }) => [containerId, { projectId, projectName, service }] as const);
    });
    return new Map(held);
  }

  async unsettled(): Promise<readonly string[]> {
    const ids = [...this.#tables.adoptedServices.keys()];
    return ids.filter((id) => this.#tables.projects.get(id)?.activeDeploymentId === null).toSorted();
  }

  async list(projectId: string): Promise<readonly AdoptedService[]> {
    const services = this.#tables.adoptedServices.get(projectId) ?? [];
    return services.toSorted((a, b) => compareKeys(a.service, b.service));
  }
}
