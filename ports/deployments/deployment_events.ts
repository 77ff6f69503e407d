import type { DeploymentEvent, NewEvent } from "../../domain/deployments/deployment_event.ts";
import type { WorkClaim } from "./deployment_queue.ts";

/** The numbered events of deployments: durable, without gaps, told to followers in every process. */
export interface DeploymentEvents {
  /**
   * Stores events in order under the next numbers and resolves to the last number, once they are durable; rejects with a `not_found` failure when
   * there is no such deployment. With a claim on it, rejects with a `conflict` failure, code `claim_void`, where that is void, and stores nothing. What no text
   * can hold (NUL, half a surrogate pair) becomes U+FFFD.
   */
  append(deploymentId: string, events: readonly NewEvent[], claim?: WorkClaim): Promise<number>;
  /** Events after `since`, in order, at most `limit`: the first of them, or the last with `newest`; only log lines (of one service) where asked. */
  read(
    deploymentId: string,
    options: {
      readonly since: number;
      readonly limit: number;
      readonly newest?: boolean;
      readonly only?: { readonly type: "log"; readonly service?: string };
    },
  ): Promise<readonly DeploymentEvent[]>;
  /** The number of the last event; 0 when there is none. */
  last(deploymentId: string): Promise<number>;
  /**
   * Yields every event after `since` in order, stored ones first, then new ones as any process appends them, in batches, as fast as they are
   * taken and no faster; returns when `signal` aborts or the deployment is removed. Memory does not grow with what a slow reader has not taken. Several who follow may be
   * given the same list, so that it can be encoded once.
   */
  follow(
    deploymentId: string,
    options: { readonly since: number; readonly signal: AbortSignal },
  ): AsyncIterable<readonly DeploymentEvent[]>;
}
