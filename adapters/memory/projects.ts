import type { DomainName } from "../../domain/domains/domain_name.ts";
import { conflict } from "../../domain/failure.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { ProjectChange, ProjectCreation, ProjectFilter, Projects } from "../../ports/projects/projects.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";
import { BY_CREATION, newestFirst } from "./newest_first.ts";

/** Keeps projects in memory. */
export class MemoryProjects implements Projects {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async list(
    organizationId: string,
    { ids, search = "", serverId, inCloud = false }: ProjectFilter,
    page: Page,
  ): Promise<Listing<Project>> {
    const wanted = search.toLowerCase();
    const rows = this.#tables.projects
      .values()
      .filter((project) => project.organizationId === organizationId)
      .filter(({ id }) => !ids || ids.includes(id))
      .filter((project) => !serverId || (project.location === "server" && project.serverId === serverId))
      .filter(({ settings }) => !inCloud || settings.inCloud === true)
      .filter(({ name, slug }) => name.toLowerCase().includes(wanted) || slug.toLowerCase().includes(wanted));
    return newestFirst(rows, page, BY_CREATION);
  }

  async find(organizationId: string, id: string): Promise<Project | undefined> {
    return copied(this.#stored(organizationId, id));
  }

  async findBySlug(organizationId: string, slug: string): Promise<Project | undefined> {
    return copied(this.#bySlug(organizationId, slug));
  }

  async create(project: Project, freeName: DomainName): Promise<ProjectCreation> {
    const { projects, projectIds, domains } = this.#tables;
    const user = projectIds.get(project.id) ?? project.organizationId;
    if (projects.has(project.id) || user !== project.organizationId) return "id_taken";
    if (this.#bySlug(project.organizationId, project.slug)) return "slug_taken";
    if (this.#tables.isHostnameTaken(freeName)) return "hostname_taken";
    projects.set(project.id, copied(project));
    projectIds.set(project.id, project.organizationId);
    domains.set(freeName.id, copied(freeName));
    return "created";
  }

  async change(
    organizationId: string,
    id: string,
    how: { readonly change: (project: Project) => ProjectChange; readonly at: Date },
  ): Promise<Project | undefined> {
    const project = this.#stored(organizationId, id);
    if (!project) return undefined;
    const {
      name = project.name,
      slug = project.slug,
      settings = project.settings,
      activeDeploymentId = project.activeDeploymentId,
      place: { location, serverId } = project,
    } = how.change(copied(project));
    const holder = this.#bySlug(organizationId, slug);
    if (holder && holder.id !== id) {
      throw conflict("slug_taken", "Cannot change this project: another one has this slug; choose another");
    }
    const changed = copied({
      ...project,
      name,
      slug,
      settings,
      location,
      serverId,
      activeDeploymentId,
      updatedAt: how.at,
    });
    this.#tables.projects.set(id, changed);
    return copied(changed);
  }

  async remove(organizationId: string, id: string): Promise<boolean> {
    const { projects, deployKeys, domains, variables, deployments, pullRequests } = this.#tables;
    if (!this.#stored(organizationId, id)) return false;
    projects.delete(id);
    for (const set of Object.values(variables)) set.delete(id);
    deployKeys.delete(id);
    this.#tables.adoptedServices.delete(id);
    for (const domain of domains.values()) if (domain.projectId === id) this.#tables.removeDomain(domain.id);
    for (const { deployment } of deployments.values()) {
      if (deployment.projectId === id) this.#tables.removeDeployment(deployment.id);
    }
    for (const [key, { report }] of pullRequests) if (report.projectId === id) pullRequests.delete(key);
    this.#tables.removeDecisions(id);
    return true;
  }

  #stored(organizationId: string, id: string): Project | undefined {
    const project = this.#tables.projects.get(id);
    return project?.organizationId === organizationId ? project : undefined;
  }

  #bySlug(organizationId: string, slug: string): Project | undefined {
    return this.#tables.projects
      .values()
      .find((project) => project.organizationId === organizationId && project.slug === slug);
  }
}
