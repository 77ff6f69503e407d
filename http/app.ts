import { Elysia } from "elysia";
import { access, declaredRoutes, type DeclaredRoute } from "./access.ts";
import { authRoutes, type AuthUseCases } from "./identity/auth_routes.ts";
import { type BackupDestinationUseCases, backupDestinationRoutes } from "./backups/routes.ts";
import { cloudRoutes, type CloudUseCases } from "./cloud/routes.ts";
import { readingRoutes, type ReadingUseCases } from "./deployments/reading_routes.ts";
import { deploymentRoutes, type DeploymentUseCases } from "./deployments/routes.ts";
import { steeringRoutes, type SteeringUseCases } from "./deployments/steering_routes.ts";
import { docsPage } from "./docs_page.ts";
import { domainRoutes, type DomainUseCases } from "./domains/routes.ts";
import { folderRoutes, type FolderUseCases } from "./projects/upload_routes.ts";
import { gate, type Gate, type GateOptions, identified } from "./gate.ts";
import { memberRoutes, type MemberUseCases } from "./identity/member_routes.ts";
import { openapi } from "./openapi.ts";
import { organizationRoutes, type OrganizationUseCases } from "./identity/organization_routes.ts";
import { problems } from "./problems.ts";
import { projectRoutes, type ProjectUseCases } from "./projects/routes.ts";
import { variableRoutes, type VariableUseCases } from "./projects/variable_routes.ts";
import { checkBody, keptBody } from "./request_body.ts";
import { serverRoutes, type ServerUseCases } from "./servers/routes.ts";
import { type SystemFacts, systemRoutes } from "./system/routes.ts";
import { tokenRoutes, type TokenUseCases } from "./identity/token_routes.ts";

export type HttpUseCases = AuthUseCases &
  BackupDestinationUseCases &
  CloudUseCases &
  DeploymentUseCases &
  ReadingUseCases &
  SteeringUseCases &
  DomainUseCases &
  FolderUseCases &
  MemberUseCases &
  OrganizationUseCases &
  ProjectUseCases &
  ServerUseCases &
  TokenUseCases &
  VariableUseCases;

export interface HttpOptions extends GateOptions {
  readonly publicUrl: string;
  readonly facts: Omit<SystemFacts, "openapi" | "docs" | "metrics">;
}

/** The application: what answers a request, and what it declares. */
export interface HttpApp {
  readonly handle: Gate;
  readonly routes: readonly DeclaredRoute[];
}

/** The routes as Elysia holds them, without the gate. */
function elysia(useCases: HttpUseCases, options: HttpOptions, documents: Pick<SystemFacts, "openapi" | "docs">) {
  const guarded = access();
  const { facts, metrics, publicUrl } = options;
  return new Elysia({ normalize: false })
    .use(problems(options.report))
    .onParse({ as: "global" }, ({ request }) => keptBody(request))
    .onTransform({ as: "global" }, ({ request }) => checkBody(request))
    .use(guarded)
    .use(systemRoutes(guarded, { ...facts, ...documents, metrics }))
    .use(authRoutes(guarded, useCases))
    .use(tokenRoutes(guarded, useCases))
    .use(organizationRoutes(guarded, useCases))
    .use(memberRoutes(guarded, useCases, publicUrl))
    .use(projectRoutes(guarded, useCases))
    .use(variableRoutes(guarded, useCases))
    .use(folderRoutes(guarded, useCases, publicUrl))
    .use(domainRoutes(guarded, useCases))
    .use(serverRoutes(guarded, useCases))
    .use(backupDestinationRoutes(guarded, useCases))
    .use(cloudRoutes(guarded, useCases))
    .use(deploymentRoutes(guarded, useCases))
    .use(steeringRoutes(guarded, useCases))
    .use(
      readingRoutes(guarded, useCases, {
        report: (error) => options.report(error, ""),
        identify: (request) => identified(request, options.identify),
      }),
    );
}

/** Builds the HTTP application as one function from request to answer; it does not listen. */
export function createApp(useCases: HttpUseCases, options: HttpOptions): HttpApp {
  const info = { version: options.facts.version, url: options.publicUrl };
  const document = once(() => openapi(app, info));
  const app = elysia(useCases, options, { openapi: document, docs: () => docsPage(document()) });
  return { handle: gate(app, options), routes: declaredRoutes(app) };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
