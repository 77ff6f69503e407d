import { connect, type Socket } from "node:net";

/** A request to the edge. */
export interface EdgeRequest {
  readonly hostname: string;
  readonly method?: "GET" | "POST";
  readonly path?: string;
  /** Whether it is the last one on its connection. */
  readonly close: boolean;
}

/** A connection to the edge over a plain socket, without hidden retries. */
export class EdgeConnection implements Disposable {
  readonly #socket: Socket;
  #received = "";
  #change: (() => void) | undefined;
  #ended: string | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => this.#noted(() => (this.#received += text)));
    socket.on("error", (error) => this.#noted(() => (this.#ended ??= error.message)));
    socket.on("close", () => this.#noted(() => (this.#ended ??= "closed")));
  }

  static open(port: number): Promise<EdgeConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new EdgeConnection(socket));
      });
    });
  }

  /** Sends a request and returns the response body. Throws unless the response is complete and a 200. */
  async request({ hostname, method = "GET", path = "/", close }: EdgeRequest): Promise<string> {
    const fields = [`Host: ${hostname}`];
    if (close) fields.push("Connection: close");
    if (method === "POST") fields.push("Content-Length: 0");
    this.#socket.write(`${method} ${path} HTTP/1.1\r\n${fields.join("\r\n")}\r\n\r\n`);
    for (;;) {
      const head = /^HTTP\/1\.1 (\d+)[^]*?\r\n\r\n/.exec(this.#received);
      const length = head && Number(/content-length: (\d+)/i.exec(head[0])?.[1] ?? Number.NaN);
      if (head && length !== null && this.#received.length >= head[0].length + length) {
        const body = this.#received.slice(head[0].length, head[0].length + length);
        this.#received = this.#received.slice(head[0].length + length);
        if (head[1] !== "200") throw new Error(`${head[1]}: ${body.slice(0, 200)}`);
        return body;
      }
      if (this.#ended !== undefined) throw new Error(`${this.#ended} after ${this.#received.length} characters`);
      await new Promise<void>((resolve) => (this.#change = resolve));
    }
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #noted(change: () => void): void {
    change();
    this.#change?.();
  }
}
