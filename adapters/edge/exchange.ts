/** One request on its way to an answer, as its client's connection sees it. */
export interface Exchange {
  /** The next bytes of the request's body, framing included. */
  requestBytes(bytes: Buffer): void;
  /** The client takes more of the answer again. */
  clientReady(): void;
  /** The client is gone: nothing of this is needed any more. */
  clientGone(): void;
  /** The time that the client's connection set for it is over. */
  expired(): void;
}
