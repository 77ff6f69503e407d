import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { WorkClaim } from "./deployment_queue.ts";

/** A project with the deployment that serves it. */
export interface LiveRelease {
  readonly project: Project;
  readonly deployment: Deployment;
}

/** The live releases of the whole installation, for edges and for maintenance. */
export interface LiveReleases {
  /** Lists everything that serves: the live release of each project, and ready previews that were not cleaned up. */
  list(): Promise<readonly LiveRelease[]>;
  /** Finds the live release of a project by the project's id, or a serving preview by its own id. */
  find(key: string): Promise<LiveRelease | undefined>;
  /** Returns which of these deployments are live. */
  among(deploymentIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Makes a deployment, or none, the live release of the project whose deployment the claim is on. Rejects with a
   * `conflict` failure, code `claim_void`, when the claim is void, and then changes nothing, so that a stale worker
   * cannot overwrite its successor.
   */
  activate(deploymentId: string | null, options: { readonly claim: WorkClaim; readonly at: Date }): Promise<void>;
  /** Notifies every process that a project's release changed, or a preview, by its own id. */
  announce(key: string): Promise<void>;
  /**
   * Calls the handler with a key for `find` whenever that release may have changed, and with `null` when any may have.
   * Returns a function that unsubscribes. A handler that returns a promise is applying the change until that settles.
   */
  onChange(handler: (key: string | null) => unknown): () => void;
  /**
   * Resolves to `true` once every process has applied all announcements made before the call, and to `false` after
   * `limitMs`. Does not wait for processes that ended or do not answer at all.
   */
  followed(limitMs: number): Promise<boolean>;
}
