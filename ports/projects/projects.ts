import type { DomainName } from "../../domain/domains/domain_name.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Project, ProjectSettings } from "../../domain/projects/project.ts";

/** Filter of a project list. */
export interface ProjectFilter {
  /** Only these ids. Absent: all projects of the organization. */
  readonly ids?: readonly string[];
  /** Only names and slugs that contain this text, ignoring case. */
  readonly search?: string;
  /** Only those that run on this server. */
  readonly serverId?: string;
  /** Only those of which the linked cloud has a copy. */
  readonly inCloud?: boolean;
}

/** Changes to a project. Absent fields stay. */
export interface ProjectChange {
  readonly name?: string;
  readonly slug?: string;
  readonly settings?: ProjectSettings;
  /** Where it runs from now on. */
  readonly place?: Pick<Project, "location" | "serverId">;
  /** The live release; `null` when there is none. */
  readonly activeDeploymentId?: string | null;
}

/** What became of a project that was to be stored. */
export type ProjectCreation = "created" | "id_taken" | "slug_taken" | "hostname_taken";

/** Stores projects per organization. */
export interface Projects {
  /** Newest first. */
  list(organizationId: string, filter: ProjectFilter, page: Page): Promise<Listing<Project>>;
  find(organizationId: string, id: string): Promise<Project | undefined>;
  findBySlug(organizationId: string, slug: string): Promise<Project | undefined>;
  /**
   * Stores a project with its free host name atomically, or returns what is taken. An id is taken while a project has
   * it, and for ever after by the organization that used it first: only that one may use it again.
   */
  create(project: Project, freeName: DomainName): Promise<ProjectCreation>;
  /**
   * Changes the project as currently stored. `change` runs while it is locked, so that concurrent changes add up.
   * Returns the result, or `undefined` when there is no such project. Rejects with a `conflict` failure, code
   * `slug_taken`.
   */
  change(
    organizationId: string,
    id: string,
    how: { readonly change: (project: Project) => ProjectChange; readonly at: Date },
  ): Promise<Project | undefined>;
  /** Deletes a project with its variables, host names and deployments. Returns `false` when there is none. */
  remove(organizationId: string, id: string): Promise<boolean>;
}
