import type { Deployments } from "../../ports/deployments.ts";
import type { LiveRelease, LiveReleases } from "../../ports/live_releases.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Finds what is live in memory. */
export class MemoryLiveReleases implements LiveReleases {
  readonly #tables: MemoryTables;
  readonly #deployments: Deployments;
  readonly #handlers = new Set<(projectId: string | null) => void>();

  constructor(tables: MemoryTables, deployments: Deployments) {
    this.#tables = tables;
    this.#deployments = deployments;
  }

  async list(): Promise<readonly LiveRelease[]> {
    const live = await Promise.all(this.#tables.projects.keys().map((id) => this.find(id)));
    const previews = this.#tables.deployments.values().flatMap(({ deployment }) => {
      const project = this.#tables.projects.get(deployment.projectId);
      const serves = project && deployment.environment === "preview" && deployment.status === "ready";
      return serves ? [structuredClone({ project, deployment })] : [];
    });
    return [...live.filter((release) => release !== undefined), ...previews];
  }

  async find(projectId: string): Promise<LiveRelease | undefined> {
    const project = structuredClone(this.#tables.projects.get(projectId));
    const deployment = project?.activeDeploymentId
      ? await this.#deployments.get(project.activeDeploymentId)
      : undefined;
    return project && deployment && { project, deployment };
  }

  async among(deploymentIds: readonly string[]): Promise<ReadonlySet<string>> {
    const active = this.#tables.projects.values().map(({ activeDeploymentId }) => activeDeploymentId);
    return new Set(active.filter((id) => id !== null && deploymentIds.includes(id))) as ReadonlySet<string>;
  }

  async announce(projectId: string): Promise<void> {
    for (const handler of this.#handlers) handler(projectId);
  }

  onChange(handler: (projectId: string | null) => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }
}
