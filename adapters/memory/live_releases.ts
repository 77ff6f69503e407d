import type { Deployment } from "../../domain/deployments/deployment.ts";
import { claimVoid } from "../../domain/deployments/claim_void.ts";
import { servesAsPreview } from "../../domain/deployments/transitions.ts";
import type { WorkClaim } from "../../ports/deployments/deployment_queue.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { LiveRelease, LiveReleases } from "../../ports/deployments/live_releases.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Reads live releases from memory. */
export class MemoryLiveReleases implements LiveReleases {
  readonly #tables: MemoryTables;
  readonly #deployments: Deployments;

  constructor(tables: MemoryTables, deployments: Deployments) {
    this.#tables = tables;
    this.#deployments = deployments;
  }

  async list(): Promise<readonly LiveRelease[]> {
    const keys = [...this.#tables.projects.keys(), ...this.#tables.deployments.keys()];
    const live = await Promise.all(keys.map((key) => this.find(key)));
    return live.filter((release) => release !== undefined);
  }

  async find(key: string): Promise<LiveRelease | undefined> {
    const deployment = await this.#live(key);
    const project = copied(this.#tables.projects.get(deployment?.projectId ?? ""));
    return project && deployment && { project, deployment };
  }

  async among(deploymentIds: readonly string[]): Promise<ReadonlySet<string>> {
    const active = this.#tables.projects.values().map(({ activeDeploymentId }) => activeDeploymentId);
    return new Set(active.filter((id) => id !== null && deploymentIds.includes(id))) as ReadonlySet<string>;
  }

  async activate(
    deploymentId: string | null,
    { claim, at }: { readonly claim: WorkClaim; readonly at: Date },
  ): Promise<void> {
    const row = this.#tables.claimed(claim);
    const project = row && this.#tables.projects.get(row.deployment.projectId);
    if (!project) throw claimVoid();
    const changed = { ...project, activeDeploymentId: deploymentId, updatedAt: new Date(at) };
    this.#tables.projects.set(project.id, changed);
  }

  async announce(key: string): Promise<void> {
    const { liveHandlers, liveWork } = this.#tables;
    for (const handler of liveHandlers) {
      const work = Promise.resolve(handler(key)).catch(() => {});
      liveWork.add(work);
      void work.finally(() => liveWork.delete(work));
    }
  }

  async followed(limitMs: number): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<false>();
    const timer = setTimeout(() => resolve(false), limitMs);
    const done = Promise.all(this.#tables.liveWork).then(() => true);
    return Promise.race([done, late]).finally(() => clearTimeout(timer));
  }

  onChange(handler: (key: string | null) => unknown): () => void {
    this.#tables.liveHandlers.add(handler);
    return () => this.#tables.liveHandlers.delete(handler);
  }

  async #live(key: string): Promise<Deployment | undefined> {
    const active = this.#tables.projects.get(key)?.activeDeploymentId;
    if (active) return this.#deployments.get(active);
    const preview = await this.#deployments.get(key);
    return preview && servesAsPreview(preview) ? preview : undefined;
  }
}
