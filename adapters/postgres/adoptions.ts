import type { DomainName } from "../../domain/domains/domain_name.ts";
import { ALREADY_ADOPTED, type AdoptedService, type Adoption } from "../../domain/migration/adoption.ts";
import type { HeldContainers } from "../../domain/migration/stack.ts";
import type { Project } from "../../domain/projects/project.ts";
import { checkVariableTotals, valueBytes } from "../../domain/projects/variable.ts";
import { conflict } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { Adoptions } from "../../ports/migration/adoptions.ts";
import type { ProjectCreation } from "../../ports/projects/projects.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Database } from "./database.ts";
import { jsonValue } from "./json_value.ts";
import { freeNameInsertion, projectInsertion, TAKEN_NAMES } from "./projects.ts";
import { SEALED_COLUMNS, sealedPlace } from "./sealed_columns.ts";

/** An adopted service as it is encrypted. */
type SealedService = Omit<AdoptedService, "environment" | "recipe"> & {
  readonly environment: readonly (readonly [string, string])[];
  readonly recipe: string;
};

/** Stores adopted services in PostgreSQL, encrypted. */
export class PostgresAdoptions implements Adoptions {
  readonly #database: Database;
  readonly #vault: Vault;

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  async create(
    project: Project,
    freeName: DomainName,
    { services, variables }: Pick<Adoption, "services" | "variables">,
  ): Promise<ProjectCreation> {
    const bytes = variables.reduce((sum, variable) => sum + valueBytes(variable), 0);
    checkVariableTotals({ count: variables.length, bytes });
    const sealedVariables = await Promise.all(variables.map((variable) => this.#sealedVariable(project, variable)));
    const sealedServices = await Promise.all(services.map((service) => this.#sealedService(project, service)));
    return this.#database.run<ProjectCreation>(
      async (sql) => {
        await sql`
        with created as (${projectInsertion(sql, project)}), named as (${freeNameInsertion(sql, freeName)}), given as (
          insert into variables (project_id, key, sealed_value, value_bytes, secret, updated_at)
          select ${project.id}, variable.key, variable.sealed, variable.bytes, variable.secret,
            ${project.createdAt}::timestamptz
          from jsonb_to_recordset(${jsonValue(sql, sealedVariables)})
            as variable (key text, sealed text, bytes integer, secret boolean)
        )
        insert into adopted_services (project_id, service, server_id, container_id, sealed_service)
        select ${project.id}, adopted.service, adopted.server_id, adopted.container_id, adopted.sealed
        from jsonb_to_recordset(${jsonValue(sql, sealedServices)})
          as adopted (service text, server_id text, container_id text, sealed text)`;
        return "created";
      },
      { ...TAKEN_NAMES, adopted_services_container: alreadyAdopted },
    );
  }

  async onServer(serverId: string): Promise<HeldContainers> {
    const rows = await this.#database.run(
      (sql) => sql<{ container_id: string; service: string; id: string; name: string }[]>`
        select container_id, service, projects.id, projects.name
        from adopted_services join projects on projects.id = project_id
        where adopted_services.server_id = ${serverId}`,
    );
    return new Map(
      rows.map(({ container_id, service, id, name }) => [container_id, { projectId: id, projectName: name, service }]),
    );
  }

  async unsettled(): Promise<readonly string[]> {
    const rows = await this.#database.run(
      (sql) => sql<{ id: string }[]>`
        select id from projects
        where active_deployment_id is null and exists (select from adopted_services where project_id = projects.id)
        order by id`,
    );
    return rows.map(({ id }) => id);
  }

  async list(projectId: string): Promise<readonly AdoptedService[]> {
    const rows = await this.#database.run(
      (sql) => sql<{ service: string; sealed_service: string }[]>`
        select service, sealed_service from adopted_services where project_id = ${projectId} order by service`,
    );
    return Promise.all(
      rows.map(async ({ service, sealed_service }) => {
        const opened = await this.#vault.open(sealed_service, servicePlace(projectId, service));
        const { environment, recipe, ...rest } = JSON.parse(opened.reveal()) as SealedService;
        const variables = environment.map(([key, value]) => [key, new Secret(value)] as const);
        return { ...rest, environment: new Map(variables), recipe: new Secret(recipe) };
      }),
    );
  }

  async #sealedVariable({ id }: Project, { key, value, secret = false }: Adoption["variables"][number]) {
    const sealed = await this.#vault.seal(value, sealedPlace(SEALED_COLUMNS.variable, id, key));
    return { key, sealed, bytes: valueBytes({ value }), secret };
  }

  async #sealedService({ id }: Project, adopted: AdoptedService) {
    const environment = Array.from(adopted.environment, ([key, value]) => [key, value.reveal()] as const);
    const text: SealedService = { ...adopted, environment, recipe: adopted.recipe.reveal() };
    const sealed = await this.#vault.seal(new Secret(JSON.stringify(text)), servicePlace(id, adopted.service));
    return { service: adopted.service, server_id: adopted.serverId, container_id: adopted.containerId, sealed };
  }
}

function servicePlace(projectId: string, service: string) {
  return sealedPlace(SEALED_COLUMNS.adoptedService, projectId, service);
}

function alreadyAdopted(): never {
  throw conflict("already_adopted", ALREADY_ADOPTED);
}
