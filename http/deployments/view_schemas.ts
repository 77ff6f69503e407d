import { t } from "elysia";
import {
  DECISION,
  DEPLOYMENT_STATUS,
  ENVIRONMENT,
  INSTANCE_STATUS,
  LOG_LEVEL,
  LOG_STREAM,
  RUNTIME,
  SERVICE_STATUS,
  STEP,
  STEP_STATUS,
  TRIGGER,
} from "../meanings.ts";
import { described, explained, integer, nullable, object, text, Time } from "../schema.ts";

const Id = text(100, { description: "ID of the deployment", examples: ["dep_01m7edka8326kz9mv55sbbg868"] });
export const ProjectId = text(100, {
  description: "ID of the project",
  examples: ["prj_01m7edka8326kz9mv55sbbg868"],
});
export const EnvironmentSchema = explained(ENVIRONMENT, {
  title: "Environment",
  description: "Environment of the deployment",
  examples: ["production"],
});
export const DeploymentStatusSchema = explained(DEPLOYMENT_STATUS, {
  title: "DeploymentStatus",
  description: "Status of the deployment",
});
const ServiceStatusSchema = explained(SERVICE_STATUS, { title: "ServiceStatus" });
const StepSchema = explained(STEP, { title: "Step" });

const ErrorView = object(
  described(
    { code: t.String(), message: t.String(), step: nullable(StepSchema) },
    {
      code: "Machine-readable error code",
      message: "Human-readable error message, with what to do next",
      step: "Step; null if it belongs to none",
    },
  ),
);

const ServiceView = object(
  described(
    {
      name: t.String({ examples: ["app"] }),
      status: ServiceStatusSchema,
      url: nullable(t.String()),
      error: nullable(t.String()),
    },
    {
      name: "Name of the service; app in a project with a single service",
      status: "Status of the service",
      url: "Public URL; null if it is not public",
      error: "Why it failed or is down; null if it is healthy",
    },
  ),
);

const PromptView = object(
  described(
    {
      promptId: t.String(),
      title: t.String(),
      message: t.String(),
      actions: t.Array(
        object({
          id: t.String({ description: "Value to send as action" }),
          label: t.String({ description: "Label of the action" }),
        }),
      ),
      expiresAt: Time,
    },
    {
      promptId: "ID of the prompt",
      title: "Title of the prompt",
      message: "Full text of the prompt",
      actions: "Available actions",
      expiresAt: "Expiry time of the prompt",
    },
  ),
);

const PullRequestView = object(
  described(
    { number: integer({ examples: [7] }), fork: t.Boolean() },
    {
      number: "Number of the pull request on the git host",
      fork: "Whether it comes from a fork: then an admin has to approve each build, and it gets no variables",
    },
  ),
);

const deployment = {
  id: Id,
  projectId: ProjectId,
  organizationId: t.String(),
  status: DeploymentStatusSchema,
  decision: nullable(explained(DECISION, { title: "Decision" })),
  active: t.Boolean(),
  pinned: t.Boolean(),
  trigger: explained(TRIGGER, { title: "Trigger" }),
  environment: EnvironmentSchema,
  pullRequest: nullable(PullRequestView),
  branch: nullable(t.String()),
  commitSha: nullable(t.String()),
  commitMessage: nullable(t.String()),
  framework: nullable(t.String()),
  url: nullable(t.String({ examples: ["http://harbour.localhost:4480"] })),
  urls: t.Array(t.String()),
  services: t.Array(ServiceView),
  waitingFor: nullable(t.String()),
  waitingReason: nullable(t.String()),
  error: nullable(ErrorView),
  createdAt: Time,
  queuedAt: Time,
  startedAt: nullable(Time),
  builtAt: nullable(Time),
  finishedAt: nullable(Time),
  durationMs: nullable(integer()),
  buildMs: nullable(integer()),
  artifactAvailable: t.Boolean(),
  rollbackOf: nullable(t.String()),
  redeployOf: nullable(t.String()),
  version: integer(),
};

export const DeploymentView = object(
  described(deployment, {
    organizationId: "ID of the organization",
    decision: "Decision about a partial failure; null for all other deployments",
    active: "Whether it is the live release of the project",
    pinned: "Whether its files are kept permanently",
    trigger: "What triggered the deployment",
    pullRequest: "Pull request that this preview shows; null for all other deployments",
    branch: "Branch of the repository; null if there is none",
    commitSha: "SHA of the commit that was built; null until it is known, and for folders",
    commitMessage: "First line of the commit message",
    framework: "Framework, else language; null until it is known",
    url: "First of urls; null if it is not public",
    urls: "Public URLs",
    services: "Services of the deployment; exactly one in a project with a single service",
    waitingFor: "ID of the deployment that it waits for in the queue",
    waitingReason: "What it waits for and what to do: a start, an approval, a decision, or its turn; else null",
    error: "Why it failed; null if it did not fail",
    createdAt: "Creation time",
    queuedAt: "Time when it entered the queue",
    startedAt: "Time when it left the queue and started",
    builtAt: "Time when the build finished",
    finishedAt: "Time when it ended or began to wait for a decision",
    durationMs:
      "Milliseconds from startedAt until it ended; for a partial failure until it began to wait for keep or reject, so the wait does not count",
    buildMs: "Milliseconds from startedAt to builtAt",
    artifactAvailable: "Whether its files are still available, so that a rollback to it needs no build",
    rollbackOf: "ID of the deployment that it rolls back to; null if it is no rollback",
    redeployOf: "ID of the deployment that it rebuilds; null if it is no redeploy",
    version: "Number of the deployment within its project, starting at 1",
  }),
  { title: "Deployment" },
);

const logLine = {
  seq: integer(),
  at: Time,
  level: explained(LOG_LEVEL),
  step: nullable(StepSchema),
  service: nullable(t.String()),
  stream: explained(LOG_STREAM),
  message: t.String(),
};

export const LogLineView = object(
  described(logLine, {
    seq: "Number of the line; later lines have larger numbers",
    at: "Time when the line was written",
    level: "Severity",
    step: "Step; null if it belongs to none",
    service: "Service that it belongs to; null if it belongs to none in particular",
    stream: "Origin of the line",
    message: "Text of the line, with secrets masked",
  }),
  { title: "LogLine" },
);

const StepView = object(
  described(
    { name: StepSchema, status: explained(STEP_STATUS), startedAt: Time, durationMs: nullable(integer()) },
    {
      name: "Name of the step",
      status: "Status of the step",
      startedAt: "Start time",
      durationMs: "Duration in milliseconds; null while it runs",
    },
  ),
);

const build = {
  status: DeploymentStatusSchema,
  step: nullable(StepSchema),
  percent: integer(),
  steps: t.Array(StepView),
  lastSeq: integer(),
  prompt: nullable(PromptView),
  services: t.Array(ServiceView),
};

export const BuildView = object(
  described(build, {
    step: "Current step; null before the first step",
    percent: "Approximate progress in percent",
    steps: "Steps so far",
    lastSeq: "Number of the latest event",
    prompt: "Prompt that the build waits for; null if there is none",
    services: "Services of the deployment",
  }),
  { title: "BuildSession" },
);

const instance = {
  name: t.String(),
  containerId: nullable(t.String()),
  image: nullable(t.String()),
  status: explained(INSTANCE_STATUS),
  health: t.String(),
  error: nullable(t.String()),
  nextStartAt: nullable(Time),
  startedAt: Time,
  restarts: integer(),
  ports: t.Array(integer()),
  address: nullable(t.String()),
};

const InstanceView = object(
  described(instance, {
    name: "Name of the service",
    containerId: "ID of the process or container; null while it does not run",
    image: "Digest of the image; null for a process",
    status: "Status of the instance",
    health: "healthy or unhealthy, else the status of the service, as in ServiceStatus",
    error: "How the program ended, while it is down; else null",
    nextStartAt: "Time of the next restart; null if none is scheduled",
    startedAt: "Time of the last start",
    restarts: "Number of restarts",
    ports: "Published ports, by their number inside the instance",
    address: "Address (host:port) on this machine; null if it is not reachable from it",
  }),
);

export const InfoView = object({
  runtime: explained(RUNTIME, { title: "Runtime", description: "Runtime of the deployment" }),
  services: t.Array(InstanceView, { description: "Instances of the deployment" }),
});

const usage = described(
  {
    cpuPercent: t.Number(),
    memoryBytes: integer(),
    memoryLimitBytes: nullable(integer()),
    networkRxBytes: nullable(integer()),
    networkTxBytes: nullable(integer()),
  },
  {
    cpuPercent: "CPU usage in percent of one core",
    memoryBytes: "Memory usage in bytes",
    memoryLimitBytes: "Memory limit in bytes; null if there is none",
    networkRxBytes: "Bytes received since the start; null if the runtime does not count them",
    networkTxBytes: "Bytes sent since the start; null if the runtime does not count them",
  },
);

export const UsageView = object({
  ...usage,
  services: t.Array(object({ name: t.String({ description: "Name of the service" }), ...usage }), {
    description: "Usage of each service",
  }),
});
