import { RouteTable } from "../../domain/deployments/route_table.ts";
import type { Edge, EdgeRoute } from "../../ports/domains/edge.ts";
import { copied } from "./copied.ts";

/** Keeps routes and simulated requests in memory. */
export class MemoryEdge implements Edge {
  readonly #table = new RouteTable<EdgeRoute>();
  readonly #running = new Map<string, number>();
  #ended = Promise.withResolvers<void>();

  async switch(projectId: string, routes: readonly EdgeRoute[]): Promise<void> {
    this.#table.replace(projectId, copied(routes));
  }

  async drained(deploymentId: string, limitMs: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<true>();
    const timer = setTimeout(() => resolve(true), limitMs);
    let over: true | void = undefined;
    while (this.#running.has(deploymentId) && !over) over = await Promise.race([this.#ended.promise, late]);
    clearTimeout(timer);
  }

  /** Returns the current route for a host and path. */
  routeOf(host: string, path: string): EdgeRoute | undefined {
    return this.#table.find(host, path);
  }

  /** Begins a request to a deployment that lasts until the returned function is called. */
  begin(deploymentId: string): () => void {
    this.#running.set(deploymentId, (this.#running.get(deploymentId) ?? 0) + 1);
    return () => {
      const left = (this.#running.get(deploymentId) ?? 1) - 1;
      if (left > 0) this.#running.set(deploymentId, left);
      else this.#running.delete(deploymentId);
      this.#ended.resolve();
      this.#ended = Promise.withResolvers<void>();
    };
  }
}
