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

/** What a deployment goes through, in this order; a rollback to a kept artifact leaves out the first three. */
export const STEPS = ["fetch", "detect", "build", "start", "health", "switch", "retire", "clean"] as const;

export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];
export type ServiceStatus = (typeof SERVICE_STATUSES)[number];
export type StepName = (typeof STEPS)[number];
export type Trigger = "manual" | "push" | "redeploy" | "rollback" | "upload";
export type Decision = "pending" | "kept" | "rejected";

/** Where a deployment's code comes from. */
export type DeploymentSource =
  | { readonly kind: "upload"; readonly uploadId: string }
  | { readonly kind: "git"; readonly url: string; readonly branch: string | null; readonly commit: string | null }
  | { readonly kind: "local"; readonly path: string }
  /** Nothing: all of its services are images. */
  | { readonly kind: "none" }
  /** The files that another deployment was built from, to be built anew; its release folder where these are not kept. */
  | {
      readonly kind: "copy";
      readonly deploymentId: string;
      /** The folder of this machine that they came from at first; absent for an upload. */
      readonly localPath?: string;
    }
  /** The kept artifact of another deployment; `fallback` is what to build when it is gone. */
  | {
      readonly kind: "artifact";
      readonly deploymentId: string;
      readonly fallback: DeploymentSource | null;
      readonly localPath?: string;
      /** The preview that goes live as production by it: with the variables and endpoints that the project has then. */
      readonly promotes?: string;
    };

/** What a person or a rollback fixes about how a deployment is built and run; `null` means "detect it". */
export interface DeploymentPlan {
  readonly framework: string | null;
  readonly packageManager: string | null;
  readonly installCommand: string | null;
  readonly buildCommand: string | null;
  readonly startCommand: string | null;
  readonly outputDirectory: string | null;
  readonly rootDirectory: string | null;
  /** A Dockerfile of the project, relative to the root directory, with the stage to stop at and arguments that everybody may see. */
  readonly dockerfile: string | null;
  readonly buildTarget: string | null;
  readonly buildArgs: Readonly<Record<string, string>>;
  readonly port: number | null;
  readonly projectType: ProjectType | null;
  readonly healthPath: string | null;
  readonly runtime: RuntimeName | null;
  readonly publicEndpoints: readonly PublicEndpoint[];
}

/** What somebody said about one deployment alone; of the rest, its project says how it is. */
export interface DeploymentOverrides {
  /** The branch that was asked for. */
  readonly branch?: string;
  /** Whether its build waits for an approval; `false` where an admin of deployments said so. */
  readonly requireApproval?: boolean;
  /** Whether somebody asked for it who may deploy any folder of the machine; it counts for the folder that was asked for. */
  readonly localPathByAdmin?: boolean;
  /** Whether its services were given for it. */
  readonly services?: boolean;
  /** The endpoints as they were given, before it was known which services there are. */
  readonly publicEndpoints?: readonly PublicEndpoint[];
}

/** One part of a deployment that runs by itself; a simple project has one, named `app`. */
export interface DeployedService {
  readonly name: string;
  readonly status: ServiceStatus;
  readonly url: string | null;
  readonly error: string | null;
  /** Why nothing of it answers although it should run, for a person; absent while it does. */
  readonly outage?: string;
  /** What the runtime knows it by, once started; that of a former deployment where it was left as it is. */
  readonly instanceId: string | null;
  /** What the runtime knew it by, where nothing runs any more; it may still be finishing what it does. */
  readonly lastInstanceId?: string;
  /** The folder inside the release that is served as a site; `null` for what runs. */
  readonly site: string | null;
  /** Whose release folder has its files, where that is another's. */
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
  /** The action chosen, once somebody did. */
  readonly answer: string | null;
}

export interface StepRecord {
  readonly name: StepName;
  readonly status: "running" | "done" | "failed" | "skipped";
  readonly startedAt: Date;
  readonly durationMs: number | null;
}

/** One attempt to bring a version of a project live. */
export interface Deployment {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  /** Counts up within the project. */
  readonly version: number;
  readonly status: DeploymentStatus;
  readonly decision: Decision | null;
  /** What somebody decided about a partial failure, until it is carried out. */
  readonly asked: "keep" | "reject" | null;
  /** The release that served when this one went live. */
  readonly replaces: string | null;
  readonly pinned: boolean;
  readonly trigger: Trigger;
  readonly environment: "production" | "preview";
  readonly source: DeploymentSource;
  readonly plan: DeploymentPlan;
  /** What a redeploy takes over; absent when nothing was said about this one alone. */
  readonly own?: DeploymentOverrides;
  readonly branch: string | null;
  readonly commitSha: string | null;
  readonly commitMessage: string | null;
  readonly framework: string | null;
  readonly urls: readonly string[];
  readonly services: readonly DeployedService[];
  readonly steps: readonly StepRecord[];
  readonly prompt: BuildPrompt | null;
  readonly requireApproval: boolean;
  /** The deployment or decision that this one waits for. */
  readonly waitingFor: string | null;
  readonly error: DeploymentError | null;
  /** Held by `start: false` until somebody starts it. */
  readonly held: boolean;
  readonly cancelRequested: boolean;
  /** How often a process took it up; a killed one leaves it to the next. */
  readonly attempts: number;
  /** The variables whose values must not be seen in any output. */
  readonly secretKeys: readonly string[];
  /** Whose release folder or image it runs; itself unless it is a rollback. */
  readonly artifactOf: string | null;
  readonly artifactAvailable: boolean;
  /** The digest of the image it runs; `null` for what runs from a folder. */
  readonly image: string | null;
  /** Random; taken over from the deployment before as long as the variables are the same, so that a build knows whether it may use what it kept. */
  readonly buildTag: string | null;
  readonly rollbackOf: string | null;
  readonly redeployOf: string | null;
  readonly createdAt: Date;
  readonly queuedAt: Date;
  readonly startedAt: Date | null;
  readonly builtAt: Date | null;
  readonly finishedAt: Date | null;
  /**
   * How long it had been worked on when it began to wait for a decision, in milliseconds; absent where it never did.
   */
  readonly workMs?: number;
}
