import type { DomainName } from "../../domain/domains/domain_name.ts";
import { conflict } from "../../domain/failure.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Project, ProjectLocation, ProjectSettings } from "../../domain/projects/project.ts";
import type { ProjectChange, ProjectCreation, ProjectFilter, Projects } from "../../ports/projects/projects.ts";
import type { Database, Sql } from "./database.ts";
import { jsonValue } from "./json_value.ts";
import { ReadMemory } from "./read_memory.ts";
import { readKnownPage, readKnownRow } from "./read_page.ts";

export interface ProjectRow {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
  readonly slug: string;
  readonly hostname: string;
  readonly settings: ProjectSettings;
  readonly location: ProjectLocation;
  readonly server_id: string | null;
  readonly active_deployment_id: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

type Revised = ProjectRow & { readonly revision: number };

/** Stores projects in PostgreSQL. */
export class PostgresProjects implements Projects {
  readonly #database: Database;
  readonly #pages = new ReadMemory<readonly Project[]>();
  readonly #rows = new ReadMemory<Project>();

  constructor(database: Database) {
    this.#database = database;
  }

  async list(
    organizationId: string,
    { ids, search, serverId, inCloud = false }: ProjectFilter,
    page: Page,
  ): Promise<Listing<Project>> {
    return readKnownPage(
      this.#database,
      { key: JSON.stringify([organizationId, ids, search, serverId, inCloud]), page, memory: this.#pages },
      (sql) => ({
        columns: projectColumns(sql),
        version: sql`id || ' ' || xmin`,
        from: sql`projects where organization_id = ${organizationId}
          ${ids ? sql`and id = any (${ids}::text[])` : sql``}
          ${serverId ? sql`and location = 'server' and server_id = ${serverId}` : sql``}
          ${inCloud ? sql`and settings @> '{"inCloud": true}'` : sql``}
          ${search ? sql`and strpos(search_text, ${search.toLowerCase()}) > 0` : sql``}`,
        order: sql`created_at desc, id desc`,
      }),
      toProject,
    );
  }

  async find(organizationId: string, id: string): Promise<Project | undefined> {
    return readKnownRow<ProjectRow, Project>(
      this.#database,
      { key: `${organizationId} ${id}`, memory: this.#rows },
      (sql) => sql<(ProjectRow & { readonly found_version: string })[]>`
        select xmin::text as found_version, id, organization_id, name, slug, hostname, settings, location, server_id,
          active_deployment_id, created_at, updated_at
        from projects where id = ${id} and organization_id = ${organizationId}`,
      toProject,
    );
  }

  async findBySlug(organizationId: string, slug: string): Promise<Project | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<ProjectRow[]>`
        select ${projectColumns(sql)} from projects where organization_id = ${organizationId} and slug = ${slug}`,
    );
    return row && toProject(row);
  }

  async create(project: Project, freeName: DomainName): Promise<ProjectCreation> {
    return this.#database.run<ProjectCreation>(async (sql) => {
      await sql`with created as (${projectInsertion(sql, project)}) ${freeNameInsertion(sql, freeName)}`;
      return "created";
    }, TAKEN_NAMES);
  }

  async change(
    organizationId: string,
    id: string,
    how: { readonly change: (project: Project) => ProjectChange; readonly at: Date },
  ): Promise<Project | undefined> {
    // Optimistic concurrency: holds no lock, and recomputes a change that was computed from an outdated revision.
    for (;;) {
      const [row] = await this.#database.run(
        (sql) => sql<Revised[]>`
          select ${projectColumns(sql)}, revision from projects where id = ${id} and organization_id = ${organizationId}`,
      );
      if (!row) return undefined;
      const changed = await this.#write(row, how.change(toProject(row)), how.at);
      if (changed) return toProject(changed);
    }
  }

  async remove(organizationId: string, id: string): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`delete from projects where id = ${id} and organization_id = ${organizationId}`,
    );
    return count > 0;
  }

  async #write(row: Revised, change: ProjectChange, at: Date): Promise<ProjectRow | undefined> {
    const { name = row.name, slug = row.slug, settings = row.settings } = change;
    const { activeDeploymentId = row.active_deployment_id, place } = change;
    const { location = row.location, serverId = row.server_id } = place ?? {};
    const [changed] = await this.#database.run<readonly ProjectRow[]>(
      (sql) => sql<ProjectRow[]>`
        update projects
        set name = ${name}, slug = ${slug}, settings = ${jsonValue(sql, settings)}, updated_at = ${at},
          active_deployment_id = ${activeDeploymentId}, location = ${location}, server_id = ${serverId},
          search_text = ${searchText(name, slug)}, revision = revision + 1
        where id = ${row.id} and revision = ${row.revision}
        returning ${projectColumns(sql)}`,
      { projects_slug: slugTaken },
    );
    return changed;
  }
}

/** How a taken name shows when a project is created. */
export const TAKEN_NAMES = {
  projects_pkey: (): ProjectCreation => "id_taken",
  projects_slug: (): ProjectCreation => "slug_taken",
  projects_hostname: (): ProjectCreation => "hostname_taken",
  domains_hostname: (): ProjectCreation => "hostname_taken",
  domains_claim: (): ProjectCreation => "hostname_taken",
};

/** The statement that inserts a project. */
export function projectInsertion(sql: Sql, project: Project) {
  const { id, organizationId, name, slug, hostname, settings, location, serverId, activeDeploymentId } = project;
  return sql`
    insert into projects (id, organization_id, name, slug, hostname, settings, location, server_id,
      active_deployment_id, created_at, updated_at, search_text)
    values (${id}, ${organizationId}, ${name}, ${slug}, ${hostname}, ${jsonValue(sql, settings)}, ${location},
      ${serverId}, ${activeDeploymentId}, ${project.createdAt}, ${project.updatedAt}, ${searchText(name, slug)})`;
}

/** The statement that inserts the free host name of a project. */
export function freeNameInsertion(sql: Sql, freeName: DomainName) {
  const { id, organizationId, projectId, hostname, type, proof, verifiedAt, createdAt } = freeName;
  return sql`
    insert into domains (id, organization_id, project_id, hostname, type, proof, verified_at, created_at)
    values (${id}, ${organizationId}, ${projectId}, ${hostname}, ${type}, ${proof}, ${verifiedAt}, ${createdAt})`;
}

export function projectColumns(sql: Sql) {
  return sql`id, organization_id, name, slug, hostname, settings, location, server_id, active_deployment_id, created_at,
    updated_at`;
}

export function toProject(row: ProjectRow): Project {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    slug: row.slug,
    hostname: row.hostname,
    settings: row.settings,
    location: row.location,
    serverId: row.server_id,
    activeDeploymentId: row.active_deployment_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function searchText(name: string, slug: string): string {
  return `${name}\n${slug}`.toLowerCase();
}

function slugTaken(): never {
  throw conflict("slug_taken", "Cannot change this project: another one has this slug; choose another");
}
