/** One request and its response, as the client connection sees it. */
export interface Exchange {
  /** The next bytes of the request's body, framing included. */
  requestBytes(bytes: Buffer): void;
  /** The client accepts more of the response again. */
  clientReady(): void;
  /** The client has disconnected: the response is no longer needed. */
  clientGone(): void;
  /** The deadline set by the client connection has passed. */
  expired(): void;
}
