import { type Commit, NO_COMMIT } from "../../domain/deployments/commit.ts";
import type { NewEvent } from "../../domain/deployments/deployment_event.ts";
import { waitingLine } from "../../domain/deployments/waiting_reason.ts";
import type {
  Deployment,
  DeploymentPlan,
  DeploymentSource,
  DeploymentOverrides,
  PreviewedPullRequest,
  Environment,
  Trigger,
} from "../../domain/deployments/deployment.ts";
import { type Failure, invalid } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { Secret } from "../../domain/secret.ts";
import type { ServiceSet } from "../../domain/services/service_set.ts";
import type { ServiceSpec } from "../../domain/services/service_spec.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";

export interface MakeDeploymentPorts {
  readonly clock: Clock;
  readonly deployments: Deployments;
}

/** Variables with their values, and which of them are secret. */
export interface RecordedEnvironment {
  readonly values: ReadonlyMap<string, Secret>;
  readonly secretKeys: readonly string[];
}

/** Input of a new deployment. */
export interface NewDeployment {
  readonly trigger: Trigger;
  readonly source: DeploymentSource;
  readonly branch?: string | null;
  readonly commit?: Commit;
  /** When the commit was pushed, as the git host counts time. */
  readonly pushedAt?: number | null;
  readonly plan: DeploymentPlan;
  /** The framework that a former deployment detected. */
  readonly framework?: string | null;
  /** Overrides that apply to this deployment only. */
  readonly own?: DeploymentOverrides | undefined;
  readonly environment?: Environment;
  /** The pull request that a preview shows. */
  readonly pullRequest?: PreviewedPullRequest;
  /** Holds the deployment in `queued` until it is started. */
  readonly held?: boolean;
  /** The image of a former deployment, to run again. */
  readonly image?: string | null;
  readonly rollbackOf?: string;
  readonly redeployOf?: string;
  /** The environment of a former deployment, used instead of the project's variables at build start. */
  readonly recorded?: RecordedEnvironment;
  /** The services, if given explicitly; otherwise they are detected in the source. */
  readonly given?: readonly ServiceSpec[];
  /** The services of a former deployment, as it ran them. */
  readonly serviceSet?: ServiceSet;
}

/**
 * Queues a deployment. Its build reads the project's variables and settings when it starts, unless it goes back to
 * recorded ones.
 */
export function makeDeployment({ clock, deployments }: MakeDeploymentPorts) {
  return async function (project: Project, fields: NewDeployment): Promise<Deployment> {
    if (project.location === "cloud") throw runsInCloud();
    const at = clock.now();
    const { values, secretKeys } = fields.recorded ?? { values: new Map<string, Secret>(), secretKeys: [] };
    const deployment = { ...deploymentOf(project, fields, at), secretKeys };
    const events: NewEvent[] = [{ type: "status", status: "queued", decision: null }];
    if (deployment.held) events.push(waitingLine(deployment, at));
    return deployments.create(deployment, { environment: values, events, ...serviceSetOf(fields) });
  };
}

function runsInCloud(): Failure {
  const sentence =
    "Cannot deploy this here: its project runs in the cloud. Deploy the project again, there or with deployTarget local";
  return invalid("target_unsupported", sentence);
}

function serviceSetOf({ serviceSet, given }: NewDeployment): { readonly serviceSet?: ServiceSet } {
  if (serviceSet) return { serviceSet };
  return given ? { serviceSet: { given, wanted: [], instead: null } } : {};
}

function deploymentOf(project: Project, fields: NewDeployment, at: Date): Deployment {
  const { trigger, source, branch = null, commit = NO_COMMIT } = fields;
  return {
    id: newId("dep", at),
    organizationId: project.organizationId,
    projectId: project.id,
    version: 0,
    status: "queued",
    decision: null,
    pendingDecision: null,
    replaces: null,
    pinned: false,
    trigger,
    ...(fields.pushedAt != null && { pushedAt: fields.pushedAt }),
    environment: fields.environment ?? "production",
    ...(fields.pullRequest && { pullRequest: fields.pullRequest }),
    source,
    plan: { ...fields.plan, ...(fields.given && { projectType: "services" }) },
    ...(fields.own && { own: fields.own }),
    branch,
    ...commit,
    framework: fields.framework ?? project.settings.framework ?? null,
    urls: [],
    services: [],
    steps: [],
    prompt: null,
    requireApproval: needsApproval(project, fields.own),
    waitingFor: null,
    error: null,
    held: fields.held ?? false,
    cancelRequested: false,
    attempts: 0,
    secretKeys: [],
    artifactOf: null,
    artifactAvailable: false,
    image: fields.image ?? null,
    buildTag: null,
    rollbackOf: fields.rollbackOf ?? null,
    redeployOf: fields.redeployOf ?? null,
    createdAt: at,
    queuedAt: at,
    startedAt: null,
    builtAt: null,
    finishedAt: null,
  };
}

/** Returns whether a build of a project needs an approval. */
export function needsApproval({ settings }: Pick<Project, "settings">, own: DeploymentOverrides | undefined): boolean {
  return own?.requireApproval ?? settings.requireApproval ?? false;
}

/** The plan that the settings of a project fix. */
export function planOf({
  location,
  serverId,
  settings,
}: Pick<Project, "location" | "serverId" | "settings">): DeploymentPlan {
  const isOnServer = location === "server" && serverId !== null;
  return {
    framework: settings.framework ?? null,
    packageManager: settings.packageManager ?? null,
    installCommand: settings.installCommand ?? null,
    buildCommand: settings.buildCommand ?? null,
    startCommand: settings.startCommand ?? null,
    outputDirectory: settings.outputDirectory ?? null,
    rootDirectory: settings.rootDirectory ?? null,
    dockerfile: settings.dockerfile ?? null,
    buildTarget: settings.buildTarget ?? null,
    buildArgs: settings.buildArgs ?? {},
    port: settings.port ?? null,
    projectType: settings.projectType ?? null,
    healthPath: settings.healthPath ?? null,
    // A server runs containers only.
    runtime: isOnServer ? "docker" : (settings.runtime ?? null),
    publicEndpoints: settings.publicEndpoints ?? [],
    ...(isOnServer && { serverId }),
  };
}
