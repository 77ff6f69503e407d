import { t } from "elysia";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { shownService } from "../../domain/deployments/shown_service.ts";
import { waitingReason } from "../../domain/deployments/waiting_reason.ts";
import { workDurationMs } from "../../domain/deployments/transitions.ts";
import type { LoggedLine } from "../../application/services/runtime_output.ts";
import type { ShownDeployment } from "../../application/deployments/view_deployment.ts";
import { EndpointSchema, ServiceSchema } from "../projects/service_schemas.ts";
import { BUILD_STRATEGY, LOCATION, LOG_KIND, PREPARED_SOURCE } from "../meanings.ts";
import { about, count, explained, object, PageFields, parameters, text, upTo } from "../schema.ts";
import { DeploymentStatusSchema, EnvironmentSchema, ProjectId } from "./view_schemas.ts";

const Environment = about("Defaults to production", EnvironmentSchema);
const Branch = text(244, { description: "Defaults to the project's own", examples: ["main"] });
const Start = t.Boolean({ description: "false holds it in queued. Defaults to true", examples: [true] });

const Approval = t.Boolean({
  description: "false, where the project demands an approval, needs deployment:admin",
  examples: [false],
});

export const ListQuery = parameters({
  ...PageFields,
  projectId: t.Optional(about("Only those of this project", ProjectId)),
  status: t.Optional(about("Only deployments with this status", DeploymentStatusSchema)),
  environment: t.Optional(about("Only those of this environment", EnvironmentSchema)),
  branch: t.Optional(text(244, { description: "Only those of exactly this branch" })),
});

export const DeployBody = object({
  projectId: ProjectId,
  branch: t.Optional(Branch),
  environment: t.Optional(Environment),
  requireApproval: t.Optional(Approval),
  start: t.Optional(Start),
});

export const BuildAccessBody = object({
  projectId: ProjectId,
  uploadSessionId: t.Optional(
    text(100, { description: "The uploaded folder", examples: ["upl_01m7edka8326kz9mv55sbbg868"] }),
  ),
  branch: t.Optional(text(244, { description: "Of a repository; nothing else has branches", examples: ["main"] })),
  buildStrategy: t.Optional(
    explained(BUILD_STRATEGY, {
      description: "Build where it runs, which is the default, or here; the same for what runs on this machine",
      examples: ["server"],
    }),
  ),
  deployTarget: t.Optional(
    explained(LOCATION, { title: "Location", description: "Where it runs. Defaults to local", examples: ["local"] }),
  ),
  serverId: t.Optional(
    text(100, { description: "The server, with deployTarget server", examples: ["srv_01m7edka8326kz9mv55sbbg868"] }),
  ),
  publicEndpoints: t.Optional(
    t.Array(EndpointSchema, {
      maxItems: 100,
      description: "Which addresses lead to which service, in this deployment. Defaults to what the project says",
      examples: [[]],
    }),
  ),
  services: t.Optional(
    t.Array(ServiceSchema, {
      maxItems: 100,
      description: "The services of this deployment. Defaults to those of the project, else to what is detected",
      examples: [[]],
    }),
  ),
  environment: t.Optional(Environment),
  requireApproval: t.Optional(Approval),
  start: t.Optional(Start),
});

export const PrepareBody = object({
  source: t.Optional(explained(PREPARED_SOURCE, { description: "What is to be looked at", examples: ["local"] })),
  gitUrl: t.Optional(
    text(2_000, { description: "A repository of any git server, by https or ssh; instead of source" }),
  ),
  owner: t.Optional(text(100, { description: "The owner of the repository" })),
  repo: t.Optional(text(100, { description: "The name of the repository" })),
  branch: t.Optional(text(244, { description: "Defaults to the repository's own default" })),
  path: t.Optional(text(4_000, { description: "The folder of the machine", examples: ["/srv/harbour"] })),
});

export const RedeployBody = object({
  useExistingCommit: t.Optional(
    t.Boolean({
      description:
        "Build exactly the commit, or the files of the folder, of that deployment instead of what is there now",
      examples: [false],
    }),
  ),
});
export const PinBody = object({
  pinned: t.Optional(
    t.Boolean({ default: true, description: "Whether its files are kept for good", examples: [true] }),
  ),
});
export const RespondBody = object({
  promptId: text(100, { description: "The question that is answered" }),
  action: text(100, { description: "The id of the action that is chosen", examples: ["approve"] }),
});

export const LogQuerySchema = parameters({
  since: t.Optional(sequence("Only lines after this number: nextSince of the answer before, to the same question")),
  limit: count({ maximum: 10_000, preset: 1_000, description: "How many lines at most" }),
  tail: t.Optional(upTo(10_000, "The last so many lines after since, oldest first, instead of the first ones")),
  service: t.Optional(text(63, { description: "Only lines of this service; left out: of all, in the order of time" })),
  kind: t.Optional(
    explained(LOG_KIND, {
      description:
        "runtime: what the services printed, of releases that were replaced, failed or ended too: the last 10 MB of each service. Defaults to build",
    }),
  ),
});

export const StreamQuery = parameters({
  since: t.Optional(sequence("Resume after this number")),
  kind: t.Optional(
    explained(LOG_KIND, {
      description: "runtime: what the services print. Defaults to build: how the deployment is carried out",
    }),
  ),
  service: t.Optional(text(63, { description: "With kind=runtime, only lines of this service, by its own numbers" })),
});

/** An event number as a query parameter, which is text. */
function sequence(description: string) {
  return t.String({ pattern: "^[0-9]+$", description, stands: { type: "integer", minimum: 0 } });
}

/** Parses such a number. Clamps larger ones to `Number.MAX_SAFE_INTEGER`, beyond any real event. */
export function sequenceOf(digits = "0"): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}

/** Converts a deployment for the API. */
export function deploymentView({ deployment, active }: ShownDeployment) {
  const {
    id,
    projectId,
    organizationId,
    status,
    decision,
    pinned,
    trigger,
    environment,
    branch,
    commitSha,
    commitMessage,
  } = deployment;
  const { framework, urls, waitingFor, error, artifactAvailable, rollbackOf, redeployOf, version } = deployment;
  const { createdAt, queuedAt, startedAt, builtAt, finishedAt } = deployment;
  return {
    id,
    projectId,
    organizationId,
    status,
    decision,
    active,
    pinned,
    trigger,
    environment,
    branch,
    commitSha,
    commitMessage,
    framework,
    url: urls[0] ?? null,
    urls,
    services: serviceViews(deployment),
    waitingFor,
    waitingReason: waitingReason(deployment),
    error,
    createdAt: createdAt.toISOString(),
    queuedAt: queuedAt.toISOString(),
    startedAt: startedAt?.toISOString() ?? null,
    builtAt: builtAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
    durationMs: workDurationMs(deployment),
    buildMs: startedAt && builtAt ? builtAt.getTime() - startedAt.getTime() : null,
    artifactAvailable,
    rollbackOf,
    redeployOf,
    version,
  };
}

export function serviceViews({ services }: Deployment) {
  return services.map((service) => ({ ...shownService(service), url: service.url }));
}

export function lineView({ seq, at, level, step, service, stream, message }: LoggedLine) {
  return { seq, at: at.toISOString(), level, step, service, stream, message };
}
