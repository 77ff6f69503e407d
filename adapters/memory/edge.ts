import { bareHost, RouteTable } from "../../domain/deployments/route_table.ts";
import type { Edge, EdgeCertificate, EdgeRoute } from "../../ports/domains/edge.ts";
import { assertPresentable } from "../shared/presentable_certificate.ts";
import { copied } from "./copied.ts";

/** Keeps routes and simulated requests in memory. */
export class MemoryEdge implements Edge {
  readonly #table = new RouteTable<EdgeRoute>();
  readonly #certificates = new Map<string, EdgeCertificate>();
  readonly #running = new Map<string, number>();
  #ended = Promise.withResolvers<void>();

  async switch(projectId: string, routes: readonly EdgeRoute[]): Promise<void> {
    this.#table.replace(projectId, copied(routes));
  }

  async present(hostname: string, certificate: EdgeCertificate | null): Promise<void> {
    if (certificate) assertPresentable(certificate);
    if (certificate) this.#certificates.set(bareHost(hostname), certificate);
    else this.#certificates.delete(bareHost(hostname));
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

  /** Returns the certificate that visitors of a host get. */
  certificateOf(hostname: string): EdgeCertificate | undefined {
    return this.#certificates.get(bareHost(hostname));
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
