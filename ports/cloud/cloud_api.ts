import type { ActingMember } from "../../domain/cloud/acting_member.ts";
import type { Secret } from "../../domain/secret.ts";

/** Where the hosted cloud is, and the token of the link to it. */
export interface CloudAddress {
  readonly url: string;
  readonly token: Secret;
}

/** A request to the hosted cloud's API. */
export interface CloudRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  /** Only those that describe the request itself are sent: no credentials, no cookies, nothing about the connection. */
  readonly headers?: Headers;
  readonly body?: ReadableStream<Uint8Array> | string | null;
  /** The member that it is made for. Without one, the cloud allows all that the link's token may do. */
  readonly actingMember?: ActingMember;
  /** How long the cloud may take to begin its answer, in milliseconds. */
  readonly limitMs?: number;
  readonly signal: AbortSignal;
}

/** The API of the hosted cloud. */
export interface CloudApi {
  /**
   * Sends a request with the token of the link and resolves to the cloud's response, whatever its status, with only those
   * headers that describe it. A body with a length is there as a whole; any other is streamed, and cancelling it, or
   * aborting the signal, ends the request at the cloud too. Redirects are not followed. Rejects with an `unavailable` failure, code
   * `cloud_away`, when the cloud cannot be reached or does not answer in time.
   */
  send(cloud: CloudAddress, request: CloudRequest): Promise<Response>;
}
