import type { Commit } from "./commit.ts";
import type { ProjectType, RuntimeName } from "../projects/project.ts";
import type { PublicEndpoint } from "../services/service_definition.ts";

export const DEPLOYMENT_STATUSES = [
  "queued",
  "building",
  "deploying",
  "ready",
  "failed",
  "cancelled",
  "partial_failure",
  "rejected",
  "superseded",
] as const;

export const SERVICE_STATUSES = [
  "pending",
  "building",
  "starting",
  "healthy",
  "done",
  "unchanged",
  "failed",
  "stopped",
] as const;

/** The steps of a deployment, in order; a rollback to a kept artifact skips the first three. */
export const STEPS = ["fetch", "detect", "build", "start", "health", "switch", "retire", "clean"] as const;

export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];
export type ServiceStatus = (typeof SERVICE_STATUSES)[number];
export type StepName = (typeof STEPS)[number];
export type Trigger = "manual" | "push" | "pull_request" | "redeploy" | "rollback" | "upload";
export type Environment = "production" | "preview";
export type Decision = "pending" | "kept" | "rejected";

/** The source of a deployment's code. */
export type DeploymentSource =
  | { readonly kind: "upload"; readonly uploadId: string }
  | { readonly kind: "git"; readonly url: string; readonly branch: string | null; readonly commit: string | null }
  | { readonly kind: "local"; readonly path: string }
  /** No source: all services are images. */
  | { readonly kind: "none" }
  /** The files that another deployment was built from, to be rebuilt; its release folder if they were not kept. */
  | {
      readonly kind: "copy";
      readonly deploymentId: string;
      /** The folder of this machine that the files originally came from; absent for an upload. */
      readonly localPath?: string;
    }
  /** The kept artifact of another deployment; `fallback` is the source to build when the artifact is gone. */
  | {
      readonly kind: "artifact";
      readonly deploymentId: string;
      readonly fallback: DeploymentSource | null;
      readonly localPath?: string;
      /** The preview that this promotes to production, with the project's variables and endpoints at that time. */
      readonly promotes?: string;
    };

/** Build and run settings fixed by a user or a rollback; `null` means "detect it". */
export interface DeploymentPlan {
  readonly framework: string | null;
  readonly packageManager: string | null;
  readonly installCommand: string | null;
  readonly buildCommand: string | null;
  readonly startCommand: string | null;
  readonly outputDirectory: string | null;
  readonly rootDirectory: string | null;
  /** Path of a Dockerfile, relative to the root directory, with target stage and build arguments (not secret). */
  readonly dockerfile: string | null;
  readonly buildTarget: string | null;
  readonly buildArgs: Readonly<Record<string, string>>;
  readonly port: number | null;
  readonly projectType: ProjectType | null;
  readonly healthPath: string | null;
  readonly runtime: RuntimeName | null;
  readonly publicEndpoints: readonly PublicEndpoint[];
  /** The server whose container engine builds and runs it; absent for this machine. */
  readonly serverId?: string;
}

/** Input for this deployment alone; for everything else the settings of its project apply. */
export interface DeploymentOverrides {
  /** The requested branch. */
  readonly branch?: string;
  /** Whether the build waits for an approval; `false` only if set by an admin of deployments. */
  readonly requireApproval?: boolean;
  /** Whether the requester may deploy any folder of the machine; only counts for the requested folder. */
  readonly localPathByAdmin?: boolean;
  /** Where an image for a server is built; on the server if absent. */
  readonly buildStrategy?: "server" | "local";
  /** Whether the request contained the services. */
  readonly services?: boolean;
  /** The endpoints as requested, before the services are known. */
  readonly publicEndpoints?: readonly PublicEndpoint[];
}

/** One separately running part of a deployment; a simple project has one, named `app`. */
export interface DeployedService {
  readonly name: string;
  readonly status: ServiceStatus;
  readonly url: string | null;
  readonly error: string | null;
  /** Why it does not answer although it should run, for people; absent while it is up. */
  readonly outage?: string;
  /** The runtime's id of the instance, once started; an earlier deployment's if the service was left unchanged. */
  readonly instanceId: string | null;
  /** The runtime's id of the last instance, when nothing should run any more; it may still be draining. */
  readonly lastInstanceId?: string;
  /** The folder inside the release that is served as a static site; `null` for a running program. */
  readonly site: string | null;
  /** The deployment whose release folder has its files, if not its own. */
  readonly filesOf?: string;
}

export interface DeploymentError {
  readonly code: string;
  readonly message: string;
  readonly step: StepName | null;
}

/** A question that a build waits for. */
export interface BuildPrompt {
  readonly promptId: string;
  readonly title: string;
  readonly message: string;
  readonly actions: readonly { readonly id: string; readonly label: string }[];
  readonly expiresAt: Date;
  /** The chosen action; `null` until answered. */
  readonly answer: string | null;
}

export interface StepRecord {
  readonly name: StepName;
  readonly status: "running" | "done" | "failed" | "skipped";
  readonly startedAt: Date;
  readonly durationMs: number | null;
}

/** The pull request that a preview shows. */
export interface PreviewedPullRequest {
  readonly number: number;
  /** Whether its commits come from another repository, whose owner may not be trusted. */
  readonly fork: boolean;
}

/** One attempt to bring a version of a project live. */
export interface Deployment extends Commit {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  /** Incremented per project. */
  readonly version: number;
  readonly status: DeploymentStatus;
  readonly decision: Decision | null;
  /** The decision about a partial failure, until it is carried out. */
  readonly pendingDecision: "keep" | "reject" | null;
  /** The release that was live when this one went live. */
  readonly replaces: string | null;
  readonly pinned: boolean;
  readonly trigger: Trigger;
  /** When the commit was pushed, as the git host counts time; absent unless a push triggered it. */
  readonly pushedAt?: number;
  readonly environment: Environment;
  /** Absent unless it is the preview of a pull request. */
  readonly pullRequest?: PreviewedPullRequest;
  readonly source: DeploymentSource;
  readonly plan: DeploymentPlan;
  /** Overrides for this deployment alone; a redeploy inherits them except for permissions. Absent if there are none. */
  readonly own?: DeploymentOverrides;
  readonly branch: string | null;
  readonly framework: string | null;
  readonly urls: readonly string[];
  readonly services: readonly DeployedService[];
  readonly steps: readonly StepRecord[];
  readonly prompt: BuildPrompt | null;
  readonly requireApproval: boolean;
  /** The deployment or decision that this one waits for. */
  readonly waitingFor: string | null;
  readonly error: DeploymentError | null;
  /** Held by `start: false` until it is started explicitly. */
  readonly held: boolean;
  readonly cancelRequested: boolean;
  /** How often a process took it up; if one is killed, the next takes it over. */
  readonly attempts: number;
  /** The variables whose values are masked in all output. */
  readonly secretKeys: readonly string[];
  /** The deployment whose release folder or image it runs; its own id unless it is a rollback. */
  readonly artifactOf: string | null;
  readonly artifactAvailable: boolean;
  /** The digest of the image it runs; `null` if it runs from a folder. */
  readonly image: string | null;
  /**
   * Random cache key of the build. Inherited from the previous deployment while the variables stay the same, so that a
   * build knows whether it may reuse cached results.
   */
  readonly buildTag: string | null;
  readonly rollbackOf: string | null;
  readonly redeployOf: string | null;
  readonly createdAt: Date;
  readonly queuedAt: Date;
  readonly startedAt: Date | null;
  readonly builtAt: Date | null;
  readonly finishedAt: Date | null;
  /** Work time in milliseconds until it began to wait for a decision; absent if it never did. */
  readonly workMs?: number;
}
