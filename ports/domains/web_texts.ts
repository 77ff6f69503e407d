/** A text to read from a web server. */
export interface WebTextRequest {
  /** The name that the server is asked for. */
  readonly hostname: string;
  /** The IP address to connect to, already looked up and allowed. */
  readonly address: string;
  readonly path: string;
  readonly signal?: AbortSignal;
}

/** What a web server answers; `text` is cut after 1 KiB. */
export type WebText =
  | { readonly kind: "answered"; readonly status: number; readonly text: string }
  | { readonly kind: "unreachable" };

/** Reads short texts from web servers over plain HTTP, at port 80. Sends no credentials and follows no redirect. */
export interface WebTexts {
  /**
   * Connects to exactly this address. Resolves within 10 seconds whatever the server does, and never rejects: a server
   * that does not speak HTTP, and a cancelled request, count as unreachable.
   */
  read(request: WebTextRequest): Promise<WebText>;
}
