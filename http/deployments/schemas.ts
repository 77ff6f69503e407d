import { t } from "elysia";
import { type Deployment, DEPLOYMENT_STATUSES, SERVICE_STATUSES, STEPS } from "../../domain/deployment/deployment.ts";
import { shownService } from "../../domain/deployment/shown_service.ts";
import { waitingReason } from "../../domain/deployment/waiting_reason.ts";
import { workDurationMs } from "../../domain/deployment/transitions.ts";
import type { LoggedLine } from "../../application/deployments/runtime_output.ts";
import type { ShownDeployment } from "../../application/deployments/view_deployment.ts";
import { EndpointSchema, ServiceSchema } from "../projects/service_schemas.ts";
import { count, integer, nullable, object, oneOf, PageFields, parameters, text, Time, upTo } from "../schema.ts";

const Id = text(100, { examples: ["dep_01m7edka8326kz9mv55sbbg868"] });
const ProjectId = text(100, { examples: ["prj_01m7edka8326kz9mv55sbbg868"] });
const Environment = oneOf(["production", "preview"] as const, { examples: ["production"] });

const Approval = t.Boolean({
  description: "false, where the project demands an approval, needs deployment:admin",
  examples: [false],
});

export const ListQuery = parameters({
  ...PageFields,
  projectId: t.Optional(ProjectId),
  status: t.Optional(oneOf(DEPLOYMENT_STATUSES, { description: "Only deployments with this status" })),
  environment: t.Optional(oneOf(["production", "preview"] as const, { description: "Only those of this environment" })),
  branch: t.Optional(text(244, { description: "Only those of exactly this branch" })),
});

export const DeployBody = object({
  projectId: ProjectId,
  branch: t.Optional(text(244, { examples: ["main"] })),
  environment: t.Optional(Environment),
  requireApproval: t.Optional(Approval),
  start: t.Optional(t.Boolean({ description: "false holds it in queued", examples: [true] })),
});

export const BuildAccessBody = object({
  projectId: ProjectId,
  uploadSessionId: t.Optional(text(100, { examples: ["upl_01m7edka8326kz9mv55sbbg868"] })),
  branch: t.Optional(text(244, { description: "Of a repository; nothing else has branches", examples: ["main"] })),
  buildStrategy: t.Optional(
    oneOf(["server", "local"] as const, {
      description: "Build where it runs, which is the default, or here; the same for what runs on this machine",
      examples: ["server"],
    }),
  ),
  deployTarget: t.Optional(oneOf(["local", "server", "cloud"] as const, { examples: ["local"] })),
  serverId: t.Optional(text(100, { examples: ["srv_01m7edka8326kz9mv55sbbg868"] })),
  publicEndpoints: t.Optional(t.Array(EndpointSchema, { maxItems: 100, examples: [[]] })),
  services: t.Optional(t.Array(ServiceSchema, { maxItems: 100, examples: [[]] })),
  environment: t.Optional(Environment),
  requireApproval: t.Optional(Approval),
  start: t.Optional(t.Boolean({ examples: [true] })),
});

export const PrepareBody = object({
  source: t.Optional(
    oneOf(["githost", "local"] as const, {
      description: "A repository of the git host (owner, repo), or a folder of the machine (path)",
      examples: ["local"],
    }),
  ),
  gitUrl: t.Optional(
    text(2_000, { description: "A repository of any git server, by https or ssh; instead of source" }),
  ),
  owner: t.Optional(text(100)),
  repo: t.Optional(text(100)),
  branch: t.Optional(text(244)),
  path: t.Optional(text(4_000, { examples: ["/srv/harbour"] })),
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
export const PinBody = object({ pinned: t.Optional(t.Boolean({ default: true, examples: [true] })) });
export const RespondBody = object({ promptId: text(100), action: text(100, { examples: ["approve"] }) });

export const LogQuerySchema = parameters({
  since: t.Optional(sequence("Only lines after this number: nextSince of the answer before, to the same question")),
  limit: count({ maximum: 10_000, preset: 1_000, description: "How many lines at most" }),
  tail: t.Optional(upTo(10_000, "The last so many lines after since, oldest first, instead of the first ones")),
  service: t.Optional(text(63, { description: "Only lines of this service; left out: of all, in the order of time" })),
  kind: t.Optional(
    oneOf(["build", "runtime"] as const, {
      description:
        "runtime: what the services printed, of releases that were replaced, failed or ended too: the last 10 MB of each service. Defaults to build",
    }),
  ),
});

export const StreamQuery = parameters({
  since: t.Optional(sequence("Resume after this number")),
  kind: t.Optional(
    oneOf(["build", "runtime"] as const, {
      description: "runtime: what the services print. Defaults to build: how the deployment is carried out",
    }),
  ),
  service: t.Optional(text(63, { description: "With kind=runtime, only lines of this service, by its own numbers" })),
});

/** A number of an event in a query, which holds text. */
function sequence(description: string) {
  return t.String({ pattern: "^[0-9]+$", description, stands: { type: "integer", minimum: 0 } });
}

/** The number that such a text stands for; beyond all that can be, where it is larger. */
export function sequenceOf(digits = "0"): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}

const ErrorView = object({ code: t.String(), message: t.String(), step: nullable(oneOf(STEPS)) });

const ServiceView = object({
  name: t.String({ examples: ["app"] }),
  status: oneOf(SERVICE_STATUSES),
  url: nullable(t.String()),
  error: nullable(t.String()),
});

const PromptView = object({
  promptId: t.String(),
  title: t.String(),
  message: t.String(),
  actions: t.Array(object({ id: t.String(), label: t.String() })),
  expiresAt: Time,
});

export const DeploymentView = object(
  {
    id: Id,
    projectId: ProjectId,
    organizationId: t.String(),
    status: oneOf(DEPLOYMENT_STATUSES),
    decision: nullable(oneOf(["pending", "kept", "rejected"] as const)),
    active: t.Boolean({ description: "The project's live release" }),
    pinned: t.Boolean(),
    trigger: oneOf(["manual", "push", "redeploy", "rollback", "upload"] as const),
    environment: Environment,
    branch: nullable(t.String()),
    commitSha: nullable(t.String()),
    commitMessage: nullable(t.String()),
    framework: nullable(t.String()),
    url: nullable(t.String({ examples: ["http://harbour.localhost:4480"] })),
    urls: t.Array(t.String()),
    services: t.Array(ServiceView),
    waitingFor: nullable(t.String({ description: "The deployment that keeps this one in the queue" })),
    waitingReason: nullable(
      t.String({
        description: "What it waits for and what to do about it: a start, an approval, a decision, its turn",
      }),
    ),
    error: nullable(ErrorView),
    createdAt: Time,
    queuedAt: Time,
    startedAt: nullable(Time),
    builtAt: nullable(Time),
    finishedAt: nullable(Time),
    durationMs: nullable(
      integer({
        description:
          "From startedAt until it was done; of one that failed in part until then, so that a wait for keep or reject does not count",
      }),
    ),
    buildMs: nullable(integer()),
    artifactAvailable: t.Boolean(),
    rollbackOf: nullable(t.String()),
    redeployOf: nullable(t.String()),
    version: integer(),
  },
  { title: "Deployment" },
);

export const LogLineView = object(
  {
    seq: integer(),
    at: Time,
    level: oneOf(["info", "warn", "error"] as const),
    step: nullable(oneOf(STEPS)),
    service: nullable(t.String()),
    stream: oneOf(["stdout", "stderr", "slipway"] as const),
    message: t.String(),
  },
  { title: "LogLine" },
);

export const BuildView = object(
  {
    status: oneOf(DEPLOYMENT_STATUSES),
    step: nullable(oneOf(STEPS)),
    percent: integer(),
    steps: t.Array(
      object({
        name: oneOf(STEPS),
        status: oneOf(["running", "done", "failed", "skipped"] as const),
        startedAt: Time,
        durationMs: nullable(integer()),
      }),
    ),
    lastSeq: integer(),
    prompt: nullable(PromptView),
    services: t.Array(ServiceView),
  },
  { title: "BuildSession" },
);

export const InfoView = object({
  runtime: oneOf(["docker", "process"] as const),
  services: t.Array(
    object({
      name: t.String(),
      containerId: nullable(t.String({ description: "The process or container; null while it does not run" })),
      image: nullable(t.String()),
      status: oneOf(["starting", "running", "failed", "exited"] as const, {
        description: "failed: its program ended and is started again by itself at nextStartAt",
      }),
      health: t.String(),
      error: nullable(t.String({ description: "How its program ended, while it is down" })),
      nextStartAt: nullable(Time),
      startedAt: Time,
      restarts: integer(),
      ports: t.Array(integer(), { description: "Those inside that it is reached at" }),
      address: nullable(t.String({ description: "Where it is reached from this machine; null when it is not" })),
    }),
  ),
});

const usage = {
  cpuPercent: t.Number(),
  memoryBytes: integer(),
  memoryLimitBytes: nullable(integer()),
  networkRxBytes: nullable(integer()),
  networkTxBytes: nullable(integer()),
};

export const UsageView = object({ ...usage, services: t.Array(object({ name: t.String(), ...usage })) });

/** A deployment as the API shows it. */
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
