import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { WorkClaim } from "./deployment_queue.ts";

/** A project with the deployment that serves it. */
export interface LiveRelease {
  readonly project: Project;
  readonly deployment: Deployment;
}

/** How a deployment stands among the others of its project. */
export interface QueuePosition {
  /** Whether it is its project's live release. */
  readonly active: boolean;
  /** The deployment that keeps this one in `queued`: in `building`, in `deploying` or awaiting a decision. */
  readonly waitingFor: string | null;
}

/** What is live in the whole installation, for edges and for upkeep. */
export interface LiveReleases {
  /** Everything that serves: the live release of each project, and ready previews that were not cleaned up. */
  list(): Promise<readonly LiveRelease[]>;
  /** The live release of a project, or a preview that serves, by its own id. */
  find(key: string): Promise<LiveRelease | undefined>;
  /** Which of these deployments are live. */
  among(deploymentIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** How each of these deployments stands; those that are not there are left out. */
  queuePositions(deploymentIds: readonly string[]): Promise<ReadonlyMap<string, QueuePosition>>;
  /**
   * Makes a deployment, or none, the live release of its project, in the name of whoever carries out a deployment of that. Rejects with a `conflict` failure,
   * code `claim_void`, where the claim is void, and then changes nothing: whoever took over cannot be overtaken.
   */
  activate(deploymentId: string | null, options: { readonly claim: WorkClaim; readonly at: Date }): Promise<void>;
  /** Tells every process that a project's release changed, or a preview, by its own id. */
  announce(key: string): Promise<void>;
  /**
   * Calls the handler with what `find` takes whenever that may have changed, with `null` when anything may have;
   * returns how to stop. A handler that returns a promise follows the change until that settles.
   */
  onChange(handler: (key: string | null) => unknown): () => void;
  /**
   * Resolves to `true` once every process has followed what was announced before the call, and to `false` after
   * `limitMs`. Nobody waits for a process that ended, nor for one that does not answer at all.
   */
  followed(limitMs: number): Promise<boolean>;
}
