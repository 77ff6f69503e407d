import type { DeploymentEvent, NewEvent } from "../../domain/deployments/deployment_event.ts";
import { claimVoid } from "../../domain/deployments/claim_void.ts";
import { notFound } from "../../domain/failure.ts";
import type { DeploymentEvents } from "../../ports/deployments/deployment_events.ts";
import type { WorkClaim } from "../../ports/deployments/deployment_queue.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";

const BATCH = 1_000;

/** Keeps the events of deployments in memory. */
export class MemoryDeploymentEvents implements DeploymentEvents {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async append(deploymentId: string, events: readonly NewEvent[], claim?: WorkClaim): Promise<number> {
    const row = this.#tables.deployments.get(deploymentId);
    if (!row) throw notFound("deployment");
    if (claim && this.#tables.claimed(claim) !== row) throw claimVoid();
    this.#tables.addEvents(row, events);
    return row.events.length;
  }

  async read(
    deploymentId: string,
    {
      since,
      limit,
      newest = false,
      only,
    }: {
      readonly since: number;
      readonly limit: number;
      readonly newest?: boolean;
      readonly only?: { readonly type: "log"; readonly service?: string };
    },
  ): Promise<readonly DeploymentEvent[]> {
    const later = this.#tables.deployments.get(deploymentId)?.events.slice(Math.max(since, 0)) ?? [];
    const wanted = later.filter(
      (event) => !only || (event.type === "log" && (only.service === undefined || event.service === only.service)),
    );
    return copied(newest ? wanted.slice(Math.max(wanted.length - limit, 0)) : wanted.slice(0, limit));
  }

  async last(deploymentId: string): Promise<number> {
    return this.#tables.deployments.get(deploymentId)?.events.length ?? 0;
  }

  async *follow(
    deploymentId: string,
    { since, signal }: { readonly since: number; readonly signal: AbortSignal },
  ): AsyncIterable<readonly DeploymentEvent[]> {
    let at = Math.max(since, 0);
    while (!signal.aborted) {
      const row = this.#tables.deployments.get(deploymentId);
      if (!row) return;
      const batch = row.events.slice(at, at + BATCH);
      if (batch.length === 0) await this.#something(signal);
      else {
        at += batch.length;
        yield batch;
      }
    }
  }

  /** Resolves once something may have changed or the signal aborted. */
  async #something(signal: AbortSignal): Promise<void> {
    const { eventHandlers } = this.#tables;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    eventHandlers.add(wake);
    signal.addEventListener("abort", wake);
    await promise;
    eventHandlers.delete(wake);
    signal.removeEventListener("abort", wake);
  }
}
