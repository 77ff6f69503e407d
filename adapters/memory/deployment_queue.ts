import type { Deployment } from "../../domain/deployments/deployment.ts";
import { isRunning, occupies } from "../../domain/deployments/transitions.ts";
import type { DeploymentQueue, WorkClaim, WorkRequest } from "../../ports/deployments/deployment_queue.ts";
import { copied } from "./copied.ts";
import type { DeploymentRow, MemoryTables } from "./memory_tables.ts";

const TAKEABLE: ReadonlySet<string> = new Set(["queued", "building", "deploying", "partial_failure"]);

/** The deployment queue in memory. */
export class MemoryDeploymentQueue implements DeploymentQueue {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async take({ owner, leaseMs, maxBuilds }: WorkRequest): Promise<Deployment | undefined> {
    const rows = this.#inOrder();
    const at = this.#tables.clock.now();
    const row = abandoned(rows, at) ?? (builds(rows, at) < maxBuilds ? waiting(rows, at) : undefined);
    if (!row) return undefined;
    row.lease = { owner, until: this.#after(leaseMs) };
    row.deployment = { ...row.deployment, attempts: row.deployment.attempts + 1 };
    return copied(row.deployment);
  }

  async renew(claim: WorkClaim, leaseMs: number): Promise<"held" | "lost" | "cancel"> {
    const row = this.#tables.claimed(claim);
    if (!row) return "lost";
    row.lease = { owner: claim.owner, until: this.#after(leaseMs) };
    return row.deployment.cancelRequested ? "cancel" : "held";
  }

  async overdue(heldMs: number): Promise<readonly string[]> {
    const at = this.#tables.clock.now();
    return this.#inOrder()
      .map(({ deployment }) => deployment)
      .filter((deployment) => deployment.held && isRunning(deployment))
      .filter(({ status, queuedAt, prompt }) => {
        if (prompt && prompt.answer === null && prompt.expiresAt <= at) return true;
        return status === "queued" && queuedAt.getTime() < at.getTime() - heldMs;
      })
      .map(({ id }) => id);
  }

  async release(claim: WorkClaim): Promise<void> {
    const row = this.#tables.claimed(claim);
    if (!row) return;
    row.lease = null;
    this.#tables.tellWorkers();
  }

  async isTaken(projectId: string): Promise<boolean> {
    return this.#tables.deployments.values().some(({ deployment, lease }) => {
      if (deployment.projectId !== projectId || lease === null) return false;
      return lease.until > this.#tables.clock.now() || (!deployment.held && TAKEABLE.has(deployment.status));
    });
  }

  onWork(handler: () => void): () => void {
    const own = () => handler();
    this.#tables.workHandlers.add(own);
    return () => this.#tables.workHandlers.delete(own);
  }

  #after(ms: number): Date {
    return new Date(this.#tables.clock.now().getTime() + ms);
  }

  #inOrder(): readonly DeploymentRow[] {
    return [...this.#tables.deployments.values()].sort((a, b) => inOrder(a.deployment, b.deployment));
  }
}

function isLeased({ lease }: DeploymentRow, at: Date): boolean {
  return lease !== null && lease.until > at;
}

function inOrder(a: Deployment, b: Deployment): number {
  return a.queuedAt.getTime() - b.queuedAt.getTime() || a.version - b.version || (a.id < b.id ? -1 : 1);
}

function abandoned(rows: readonly DeploymentRow[], at: Date): DeploymentRow | undefined {
  return rows.find((row) => occupies(row.deployment) && !row.deployment.held && !isLeased(row, at));
}

function waiting(rows: readonly DeploymentRow[], at: Date): DeploymentRow | undefined {
  const busy = new Set(rows.filter((row) => isTaken(row, at)).map(({ deployment }) => deployment.projectId));
  return rows.find(
    ({ deployment }) => deployment.status === "queued" && !deployment.held && !busy.has(deployment.projectId),
  );
}

/** Returns whether a deployment blocks others of its project. */
function isTaken(row: DeploymentRow, at: Date): boolean {
  return row.deployment.status === "queued" ? isLeased(row, at) : occupies(row.deployment);
}

/** Counts the build slots in use. A held build uses none. */
function builds(rows: readonly DeploymentRow[], at: Date): number {
  return rows.filter((row) => {
    const { status, held } = row.deployment;
    return status === "building" ? !held : status === "queued" && isLeased(row, at);
  }).length;
}
