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

const Environment = about("Environment to deploy to. Defaults to production", EnvironmentSchema);
const Branch = text(244, { description: "Branch to deploy. Defaults to that of the project", examples: ["main"] });
const Start = t.Boolean({ description: "Defaults to true; false holds it in the status queued", examples: [true] });

const Approval = t.Boolean({
  description: "Whether the build waits for an approval; false needs deployment:admin if the project requires one",
  examples: [false],
});

export const ListQuery = parameters({
  ...PageFields,
  projectId: t.Optional(about("Only deployments of this project", ProjectId)),
  status: t.Optional(about("Only deployments with this status", DeploymentStatusSchema)),
  environment: t.Optional(about("Only deployments of this environment", EnvironmentSchema)),
  branch: t.Optional(text(244, { description: "Only deployments of exactly this branch" })),
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
    text(100, { description: "ID of the upload session", examples: ["upl_01m7edka8326kz9mv55sbbg868"] }),
  ),
  branch: t.Optional(text(244, { description: "Branch; only repositories have branches", examples: ["main"] })),
  buildStrategy: t.Optional(
    explained(BUILD_STRATEGY, {
      description:
        "Where to build the image of a deployment to a server. Defaults to server; without a server both are the same",
      examples: ["server"],
    }),
  ),
  deployTarget: t.Optional(
    explained(LOCATION, {
      title: "Location",
      description: "Where to run it, from now on. Defaults to where the project is; moving it needs project:write",
      examples: ["local"],
    }),
  ),
  serverId: t.Optional(
    text(100, {
      description: "Server to move the project to, with deployTarget server; needs server:write on it",
      examples: ["srv_01m7edka8326kz9mv55sbbg868"],
    }),
  ),
  publicEndpoints: t.Optional(
    t.Array(EndpointSchema, {
      maxItems: 100,
      description: "Addresses of this deployment and the services they route to. Defaults to those of the project",
      examples: [[]],
    }),
  ),
  services: t.Optional(
    t.Array(ServiceSchema, {
      maxItems: 100,
      description: "Services of this deployment. Defaults to those of the project, else to the detected ones",
      examples: [[]],
    }),
  ),
  environment: t.Optional(Environment),
  requireApproval: t.Optional(Approval),
  start: t.Optional(Start),
});

export const PrepareBody = object({
  source: t.Optional(explained(PREPARED_SOURCE, { description: "Type of the source to inspect", examples: ["local"] })),
  gitUrl: t.Optional(
    text(2_000, { description: "URL (https or ssh) of a repository on any git server; instead of source" }),
  ),
  owner: t.Optional(text(100, { description: "Owner of the repository" })),
  repo: t.Optional(text(100, { description: "Name of the repository" })),
  branch: t.Optional(text(244, { description: "Branch. Defaults to the default branch of the repository" })),
  path: t.Optional(text(4_000, { description: "Path of a folder on this machine", examples: ["/srv/harbour"] })),
});

export const RedeployBody = object({
  useExistingCommit: t.Optional(
    t.Boolean({
      description: "Rebuild exactly the commit or the folder files of that deployment, instead of the current ones",
      examples: [false],
    }),
  ),
});
export const PinBody = object({
  pinned: t.Optional(
    t.Boolean({ default: true, description: "Whether to keep the files of the release permanently", examples: [true] }),
  ),
});
export const RespondBody = object({
  promptId: text(100, { description: "ID of the prompt to answer" }),
  action: text(100, { description: "ID of the chosen action", examples: ["approve"] }),
});

export const LogQuerySchema = parameters({
  since: t.Optional(sequence("Only lines after this number: nextSince of the previous response to the same query")),
  limit: count({ maximum: 10_000, preset: 1_000, description: "Maximum number of lines" }),
  tail: t.Optional(upTo(10_000, "Return this many last lines after since, oldest first, instead of the first")),
  service: t.Optional(text(63, { description: "Only lines of this service. Defaults to all, sorted by time" })),
  kind: t.Optional(
    explained(LOG_KIND, {
      description:
        "Defaults to build. runtime: the last 10 MB of output of each service, also of replaced, failed or ended releases",
    }),
  ),
});

export const StreamQuery = parameters({
  since: t.Optional(sequence("Resume after the event with this number")),
  kind: t.Optional(
    explained(LOG_KIND, {
      description: "Defaults to build, the progress of the deployment. runtime: the output of the services",
    }),
  ),
  service: t.Optional(text(63, { description: "With kind=runtime: only this service, with its own line numbers" })),
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
    pullRequest,
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
    pullRequest: pullRequest ? { number: pullRequest.number, fork: pullRequest.fork } : null,
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
