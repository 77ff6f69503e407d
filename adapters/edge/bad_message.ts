/** An HTTP message that is malformed or cannot be forwarded safely. */
export class BadMessage extends Error {
  override readonly name = "BadMessage";
  /** The response status for the client that sent it. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
