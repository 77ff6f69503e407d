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

const Id = text(100, { description: "The id of the deployment", examples: ["dep_01m7edka8326kz9mv55sbbg868"] });
export const ProjectId = text(100, {
  description: "The project that is deployed",
  examples: ["prj_01m7edka8326kz9mv55sbbg868"],
});
export const EnvironmentSchema = explained(ENVIRONMENT, {
  title: "Environment",
  description: "What it serves as",
  examples: ["production"],
});
export const DeploymentStatusSchema = explained(DEPLOYMENT_STATUS, {
  title: "DeploymentStatus",
  description: "How far it is, or how it ended",
});
const ServiceStatusSchema = explained(SERVICE_STATUS, { title: "ServiceStatus" });
const StepSchema = explained(STEP, { title: "Step" });

const ErrorView = object(
  described(
    { code: t.String(), message: t.String(), step: nullable(StepSchema) },
    {
      code: "A word for programs",
      message: "What went wrong and what to do next, as a sentence",
      step: "In which step; null where it was in none",
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
      name: "The name of the service; that of a project with one is app",
      status: "How it is",
      url: "Where visitors get to it; null when they do not",
      error: "Why it failed or is down; null when it is well",
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
          id: t.String({ description: "What to send as action" }),
          label: t.String({ description: "What it is called" }),
        }),
      ),
      expiresAt: Time,
    },
    {
      promptId: "The id of the question",
      title: "The question in short",
      message: "The question",
      actions: "The answers there are",
      expiresAt: "Until when it can be answered",
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
    organizationId: "Whose it is",
    decision: "What was decided about a deployment that failed in part; null for all others",
    active: "The project's live release",
    pinned: "Whether its files are kept for good",
    trigger: "What it was made by",
    branch: "The branch of the repository; null where there is none",
    commitSha: "The commit that was built; null until it is known, and for folders",
    commitMessage: "The first line of what the commit says",
    framework: "The framework, else the language; null until it is known",
    url: "The first of urls; null when visitors do not get to it",
    urls: "Where visitors get to it",
    services: "Its services; a project of one service has one",
    waitingFor: "The deployment that keeps this one in the queue",
    waitingReason: "What it waits for and what to do about it: a start, an approval, a decision, its turn",
    error: "Why it failed; null when it did not",
    createdAt: "When it was made",
    queuedAt: "When it began to wait for its turn",
    startedAt: "When its turn came",
    builtAt: "When it was built",
    finishedAt: "When it ended, or began to wait for a decision",
    durationMs:
      "From startedAt until it was done; of one that failed in part until then, so that a wait for keep or reject does not count",
    buildMs: "From startedAt to builtAt",
    artifactAvailable: "Whether its files are still there, so that a rollback to it builds nothing",
    rollbackOf: "The deployment that it goes back to",
    redeployOf: "The deployment that it builds again",
    version: "Which deployment of its project it is, counted from 1",
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
    seq: "Its number; later lines have larger ones",
    at: "When it was written",
    level: "How important it is",
    step: "In which step; null where it was in none",
    service: "Which service it is about; null where it is about none in particular",
    stream: "Who wrote it",
    message: "The line itself, with secrets left out",
  }),
  { title: "LogLine" },
);

const StepView = object(
  described(
    { name: StepSchema, status: explained(STEP_STATUS), startedAt: Time, durationMs: nullable(integer()) },
    {
      name: "Which step it is",
      status: "How it went",
      startedAt: "When it was begun",
      durationMs: "How long it took; null while it runs",
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
    step: "The step that it is in; null before the first",
    percent: "How much is done, roughly",
    steps: "The steps so far",
    lastSeq: "The number of its newest event",
    prompt: "The question that the build waits for; null when there is none",
    services: "Its services",
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
    name: "The service",
    containerId: "The process or container; null while it does not run",
    image: "The image that it runs from; null for a process",
    status: "How its program is",
    health: "healthy or unhealthy; else the status of the service, as in ServiceStatus",
    error: "How its program ended, while it is down",
    nextStartAt: "When it is started again; null when it runs",
    startedAt: "When it was last started",
    restarts: "How often it was started again",
    ports: "Those inside that it is reached at",
    address: "Where it is reached from this machine; null when it is not",
  }),
);

export const InfoView = object({
  runtime: explained(RUNTIME, { title: "Runtime", description: "What it runs by" }),
  services: t.Array(InstanceView, { description: "What runs of it" }),
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
    cpuPercent: "Of one processor",
    memoryBytes: "The memory in use",
    memoryLimitBytes: "How much it may use; null when there is no limit",
    networkRxBytes: "What it received since it was started; null where nobody counts",
    networkTxBytes: "What it sent since it was started; null where nobody counts",
  },
);

export const UsageView = object({
  ...usage,
  services: t.Array(object({ name: t.String({ description: "The service" }), ...usage }), {
    description: "The same for each service",
  }),
});
