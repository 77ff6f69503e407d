/** Parses a body up to its end. */
export interface BodyReader {
  readonly done: boolean;
  /**
   * Reads `bytes` from offset `from`; returns the offset at which the body, or the buffer, ends. Passes the content
   * without its framing to `content`.
   */
  read(bytes: Buffer, from: number, content?: (bytes: Buffer) => void): number;
}
