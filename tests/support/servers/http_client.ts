import { connect, type Socket } from "node:net";
import { MemoryLog } from "../../../adapters/memory/log.ts";
import { memoryWorld } from "../../../adapters/memory/memory_world.ts";
import { buildApplication } from "../../../wiring/build_application.ts";
import { caller, SETTINGS } from "../apps/app.ts";

const { routes } = buildApplication({ ...memoryWorld(), log: new MemoryLog() }, SETTINGS);

/**
 * Returns a client that sends requests over HTTP, each on a new connection, and validates every response against the
 * schema its route declares. `whyAway` explains why a server does not respond.
 */
export function httpClient(address: string, whyAway: () => string | undefined = () => undefined) {
  return caller(async (request) => {
    const { pathname, search } = new URL(request.url);
    const headers = new Headers(request.headers);
    headers.delete("host");
    // Shared test code uses the origin of the in-memory application.
    if (headers.get("origin") === SETTINGS.publicUrl) headers.set("origin", address);
    const { method } = request;
    const body = request.body && (await request.arrayBuffer());
    const init = { method, headers, body, keepalive: false, redirect: "manual" } as const;
    return fetch(`${address}${pathname}${search}`, init).catch((cause: unknown) => {
      const why = whyAway();
      throw why === undefined ? cause : new Error(why, { cause });
    });
  }, routes);
}

/** A response as received over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  // Tests read response bodies of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

/** The head of a request. */
export interface RequestHead {
  readonly path: string;
  readonly token: string;
  /** Sent as Content-Length. If omitted, the body is chunked. */
  readonly length?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A POST request whose body a test sends in chunks. */
export class OpenRequest implements Disposable {
  readonly #socket: Socket;
  readonly #chunked: boolean;
  readonly #closed: Promise<void>;
  #received = Buffer.alloc(0);

  private constructor(socket: Socket, chunked: boolean) {
    this.#socket = socket;
    this.#chunked = chunked;
    socket.on("data", (bytes) => (this.#received = Buffer.concat([this.#received, bytes])));
    socket.on("error", () => {});
    this.#closed = new Promise((resolve) => socket.once("close", () => resolve()));
  }

  static async open(address: string, { path, token, length, headers = {} }: RequestHead): Promise<OpenRequest> {
    const { hostname, port, host } = new URL(address);
    const connected = Promise.withResolvers<void>();
    const socket = connect(Number(port), hostname, () => connected.resolve());
    socket.once("error", connected.reject);
    await connected.promise;
    const request = new OpenRequest(socket, length === undefined);
    const size = length === undefined ? { "transfer-encoding": "chunked" } : { "content-length": String(length) };
    const all = { host, authorization: `Bearer ${token}`, connection: "close", ...size, ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    await request.#send(Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`));
    return request;
  }

  /** Sends a chunk at the speed of the server; drops it once the connection is closed. */
  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    const [before, after] = this.#chunked ? [`${bytes.length.toString(16)}\r\n`, "\r\n"] : ["", ""];
    await this.#send(Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]));
  }

  /** Ends the body. */
  async finish(): Promise<void> {
    if (this.#chunked) await this.#send(Buffer.from("0\r\n\r\n"));
  }

  /** The whole response, once the server has sent it. */
  async answer(): Promise<RawAnswer> {
    let closed = false;
    void this.#closed.then(() => (closed = true));
    for (;;) {
      const read = parsed(this.#received);
      if (read) return read;
      if (closed) throw new Error(`The connection was closed without a response: ${this.#received.toString()}`);
      await Bun.sleep(5);
    }
  }

  /** Destroys the connection. */
  cut(): void {
    this.#socket.destroy();
  }

  [Symbol.dispose](): void {
    this.cut();
  }

  async #send(bytes: Uint8Array): Promise<void> {
    if (this.#socket.destroyed) return;
    const taken = Promise.withResolvers<void>();
    this.#socket.write(bytes, () => taken.resolve());
    await Promise.race([taken.promise, this.#closed]);
  }
}

function parsed(received: Buffer): RawAnswer | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = received.subarray(0, end).toString();
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
  const body = received.subarray(end + 4);
  if (Number.isNaN(length)) throw new Error(`Cannot read a response without a length: ${head}`);
  if (body.length < length) return undefined;
  return { status: Number(head.split(" ")[1]), head, body: JSON.parse(body.subarray(0, length).toString()) };
}
