/** An HTTP message that cannot be passed on safely. */
export class BadMessage extends Error {
  override readonly name = "BadMessage";
  /** What a client that sent it is answered. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
