import type { Handshake } from "../../domain/certificates/handshake.ts";

/** Where to shake hands. */
export interface ProbeOptions {
  /** The IP address to connect to, already looked up and allowed. */
  readonly address: string;
  readonly port: number;
  readonly signal?: AbortSignal;
}

/** Shakes hands with TLS servers, as a browser does. Sends no request and changes nothing. */
export interface TlsProbe {
  /**
   * Connects to exactly this address, with the host name as the name of the server. Resolves within 10 seconds whatever
   * the server does, and never rejects: a cancelled handshake counts as one without an answer.
   */
  shakeHands(hostname: string, options: ProbeOptions): Promise<Handshake>;
}
