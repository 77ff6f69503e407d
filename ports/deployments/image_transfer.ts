/** Copies images from the engine of this machine to that of a server. */
export interface ImageTransfer {
  /**
   * Copies an image by its digest. Sends only the layers that the server lacks, and nothing if it has the image. Calls
   * `log` with what is sent. Rejects with an `unavailable` failure, code `engine_away`, when one of the engines does not
   * answer, with an `invalid` failure, code `image_missing`, when this machine does not have the image, or with the
   * signal's reason.
   */
  send(image: string, options: { readonly signal: AbortSignal; readonly log: (line: string) => void }): Promise<void>;
}
