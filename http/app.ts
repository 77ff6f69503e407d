import { Elysia } from "elysia";
import type { BackupUseCases } from "../application/backups/use_cases.ts";
import type { CertificateUseCases } from "../application/certificates/use_cases.ts";
import type { CloudUseCases } from "../application/cloud/use_cases.ts";
import type { DeploymentUseCases } from "../application/deployments/use_cases.ts";
import type { DomainUseCases } from "../application/domains/use_cases.ts";
import type { GitHostUseCases } from "../application/githost/use_cases.ts";
import type { IdentityUseCases } from "../application/identity/use_cases.ts";
import type { MigrationUseCases } from "../application/migration/use_cases.ts";
import type { ProjectUseCases } from "../application/projects/use_cases.ts";
import type { ServerUseCases } from "../application/servers/use_cases.ts";
import type { ServiceUseCases } from "../application/services/use_cases.ts";
import { access, declaredRoutes, type DeclaredRoute } from "./access.ts";
import { authRoutes } from "./identity/auth_routes.ts";
import { backupDestinationRoutes } from "./backups/routes.ts";
import { certificateRoutes } from "./certificates/routes.ts";
import { cloudRoutes } from "./cloud/routes.ts";
import { readingRoutes } from "./deployments/reading_routes.ts";
import { deploymentRoutes } from "./deployments/routes.ts";
import { sslRoutes } from "./deployments/ssl_routes.ts";
import { steeringRoutes } from "./deployments/steering_routes.ts";
import { docsPage } from "./docs_page.ts";
import { domainRoutes } from "./domains/routes.ts";
import { connectionRoutes } from "./githost/connection_routes.ts";
import { webhookRoutes } from "./githost/webhook_routes.ts";
import { hookRoutes } from "./githost/hook_routes.ts";
import { repositoryRoutes } from "./githost/repository_routes.ts";
import { folderRoutes } from "./projects/upload_routes.ts";
import { gate, type Gate, type GateOptions, identified } from "./gate.ts";
import { memberRoutes } from "./identity/member_routes.ts";
import { migrationRoutes } from "./migration/routes.ts";
import { openapi } from "./openapi.ts";
import { organizationRoutes } from "./identity/organization_routes.ts";
import { problems } from "./problems.ts";
import { deployKeyRoutes } from "./projects/deploy_key_routes.ts";
import { projectRoutes } from "./projects/routes.ts";
import { variableRoutes } from "./projects/variable_routes.ts";
import { checkBody, keptBody } from "./request_body.ts";
import { serverRoutes } from "./servers/routes.ts";
import { type SystemFacts, systemRoutes } from "./system/routes.ts";
import { tokenRoutes } from "./identity/token_routes.ts";

/** The use cases that the routes call. */
export type HttpUseCases = IdentityUseCases &
  ProjectUseCases &
  DeploymentUseCases &
  ServiceUseCases &
  DomainUseCases &
  CertificateUseCases &
  BackupUseCases &
  ServerUseCases &
  MigrationUseCases &
  CloudUseCases &
  GitHostUseCases;

export interface HttpOptions extends GateOptions {
  readonly publicUrl: string;
  readonly facts: Omit<SystemFacts, "openapi" | "docs" | "metrics">;
}

/** The HTTP application: its request handler and its declared routes. */
export interface HttpApp {
  readonly handle: Gate;
  readonly routes: readonly DeclaredRoute[];
}

/** Builds the Elysia routes, without the gate. */
function elysia(useCases: HttpUseCases, options: HttpOptions, documents: Pick<SystemFacts, "openapi" | "docs">) {
  const guarded = access();
  const { facts, metrics, publicUrl } = options;
  return (
    new Elysia({ normalize: false })
      .use(problems(options.report))
      .use(guarded)
      // Before the hooks for bodies, which would make each of them asynchronous.
      .use(systemRoutes(guarded, { ...facts, ...documents, metrics }))
      .onParse({ as: "global" }, ({ request }) => keptBody(request))
      .onTransform({ as: "global" }, ({ request }) => checkBody(request))
      .use(authRoutes(guarded, useCases))
      .use(tokenRoutes(guarded, useCases))
      .use(organizationRoutes(guarded, useCases))
      .use(memberRoutes(guarded, useCases, publicUrl))
      .use(projectRoutes(guarded, useCases))
      .use(variableRoutes(guarded, useCases))
      .use(deployKeyRoutes(guarded, useCases))
      .use(folderRoutes(guarded, useCases, publicUrl))
      .use(domainRoutes(guarded, useCases))
      .use(certificateRoutes(guarded, useCases))
      .use(serverRoutes(guarded, useCases))
      .use(
        facts.mode === "cloud"
          ? new Elysia()
          : migrationRoutes(guarded, useCases, (error) => options.report(error, "")),
      )
      .use(backupDestinationRoutes(guarded, useCases))
      .use(cloudRoutes(guarded, useCases))
      .use(
        connectionRoutes(guarded, useCases, {
          publicUrl,
          sessionOf: (request) => identified(request, options.identify).catch(() => undefined),
        }),
      )
      .use(repositoryRoutes(guarded, useCases))
      .use(hookRoutes(guarded, useCases))
      .use(webhookRoutes(guarded, useCases))
      .use(deploymentRoutes(guarded, useCases))
      .use(sslRoutes(guarded, useCases))
      .use(steeringRoutes(guarded, useCases))
      .use(
        readingRoutes(guarded, useCases, {
          report: (error) => options.report(error, ""),
          identify: (request) => identified(request, options.identify),
        }),
      )
  );
}

/** Builds the HTTP application as one function from request to response. It does not listen. */
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
