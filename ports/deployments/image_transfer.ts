/** Options of a transfer. */
export interface TransferOptions {
  readonly signal: AbortSignal;
  /** Called once with what was sent, unless nothing was. */
  readonly log: (line: string) => void;
}

/** Copies images from the engine of this machine to that of a server. */
export interface ImageTransfer {
  /**
   * Copies an image by its digest; resolves once the server can run it. Sends only the layers that the server lacks, and
   * nothing if it has the image. Rejects with an `unavailable` failure, code `engine_away`, when one of the engines does
   * not answer, with an `invalid` failure, code `image_missing`, when this machine does not have the image, or code
   * `image_refused`, when the server does not accept it, or with the signal's reason.
   */
  send(image: string, options: TransferOptions): Promise<void>;
}
