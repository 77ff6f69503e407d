import type { DomainName } from "../../domain/domains/domain_name.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Project, ProjectSettings } from "../../domain/projects/project.ts";

/** Which projects a list shows. */
export interface ProjectFilter {
  /** Only these ids; absent: all of the organization. */
  readonly ids?: readonly string[];
  /** Only names and slugs that contain this, in any case. */
  readonly search?: string;
}

/** What may change about a project; absent parts stay. */
export interface ProjectChange {
  readonly name?: string;
  readonly slug?: string;
  readonly settings?: ProjectSettings;
  /** The release that serves; `null` when none does. */
  readonly activeDeploymentId?: string | null;
}

/** Where projects are kept, apart by organization. */
export interface Projects {
  /** Newest first. */
  list(organizationId: string, filter: ProjectFilter, page: Page): Promise<Listing<Project>>;
  find(organizationId: string, id: string): Promise<Project | undefined>;
  findBySlug(organizationId: string, slug: string): Promise<Project | undefined>;
  /** Stores a project with its free name, in one step; tells which of the two is taken when one is. */
  create(project: Project, freeName: DomainName): Promise<"created" | "slug_taken" | "hostname_taken">;
  /**
   * Changes a project as it is stored at that moment: `change` sees it locked, so that concurrent changes add up. Returns the result, `undefined` when
   * there is no such project. Rejects with a `conflict` failure, code `slug_taken`.
   */
  change(
    organizationId: string,
    id: string,
    how: { readonly change: (project: Project) => ProjectChange; readonly at: Date },
  ): Promise<Project | undefined>;
  /** Removes a project with its variables, names and deployments; `false` when there is none. */
  remove(organizationId: string, id: string): Promise<boolean>;
}
