import type { Deployment } from "../domain/deployment/deployment.ts";
import type { Project } from "../domain/project.ts";

/** A project with the deployment that serves it. */
export interface LiveRelease {
  readonly project: Project;
  readonly deployment: Deployment;
}

/** What is live in the whole installation, for edges and for upkeep. */
export interface LiveReleases {
  /** Everything that serves: the live release of each project, and ready previews. */
  list(): Promise<readonly LiveRelease[]>;
  /** The live release of a project. */
  find(projectId: string): Promise<LiveRelease | undefined>;
  /** Which of these deployments are live. */
  among(deploymentIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Tells every process that a project's release changed. */
  announce(projectId: string): Promise<void>;
  /** Calls the handler with a project's id whenever its release may have changed, with `null` when any may have; returns how to stop. */
  onChange(handler: (projectId: string | null) => void): () => void;
}
