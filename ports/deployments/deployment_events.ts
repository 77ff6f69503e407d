import type { DeploymentEvent, NewEvent } from "../../domain/deployments/deployment_event.ts";
import type { WorkClaim } from "./deployment_queue.ts";

/** The numbered events of deployments: durable, without gaps, delivered to followers in every process. */
export interface DeploymentEvents {
  /**
   * Stores events in order under the next numbers and resolves to the last number once they are durable. Rejects with a
   * `not_found` failure when there is no such deployment. With a void claim, rejects with a `conflict` failure, code
   * `claim_void`, and stores nothing. Characters that text cannot store (NUL, unpaired surrogates) become U+FFFD.
   */
  append(deploymentId: string, events: readonly NewEvent[], claim?: WorkClaim): Promise<number>;
  /**
   * Returns events after `since`, in order: the first `limit` of them, or the last with `newest`. `only` selects log
   * lines, optionally of one service.
   */
  read(
    deploymentId: string,
    options: {
      readonly since: number;
      readonly limit: number;
      readonly newest?: boolean;
      readonly only?: { readonly type: "log"; readonly service?: string };
    },
  ): Promise<readonly DeploymentEvent[]>;
  /** Returns the number of the last event, or 0 when there is none. */
  last(deploymentId: string): Promise<number>;
  /**
   * Yields every event after `since` in order and in batches: stored ones first, then new ones as any process appends
   * them, no faster than the reader consumes them. Returns when `signal` aborts or the deployment is removed. A slow
   * reader does not make memory grow. Several followers may get the same array, so that it can be encoded once.
   */
  follow(
    deploymentId: string,
    options: { readonly since: number; readonly signal: AbortSignal },
  ): AsyncIterable<readonly DeploymentEvent[]>;
}
