import { createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { away, EngineApi } from "./engine_api.ts";
import { GRPC_STATUS, GrpcStream } from "./grpc_stream.ts";

/** What came with a call beside its messages; a name may come more than once. */
export type CallMetadata = ReadonlyMap<string, readonly string[]>;

/** Answers calls of one method; the call fails when it rejects. */
export type CallHandler = (call: GrpcStream, metadata: CallMetadata) => Promise<void>;

/** What the engine may call, by method path. */
export type CallHandlers = Readonly<Record<string, CallHandler>>;

const ANSWER_MS = 30_000;
const MAX_HEAD_BYTES = 16_384;
const HEALTHY = Uint8Array.of(0x08, 1);

/** A connection on which the engine's builder asks for what a build needs, while it lasts. */
export class BuildSession implements Disposable {
  readonly id: string;
  readonly #socket: Socket;
  readonly #server: Http2Server;

  private constructor(id: string, socket: Socket, server: Http2Server) {
    this.id = id;
    this.#socket = socket;
    this.#server = server;
  }

  /** Opens a session; contexts of the same key are compared with each other, so that only what changed is sent. */
  static async open(engine: EngineApi, handlers: CallHandlers, contextKey: string): Promise<BuildSession> {
    const id = crypto.randomUUID().replaceAll("-", "");
    const socket = await engine.connect();
    // A broken connection is seen by the build itself.
    socket.on("error", () => {});
    try {
      await upgrade(socket, { id, methods: Object.keys(handlers), contextKey });
    } catch (error) {
      socket.destroy();
      throw error;
    }
    // An answer to one call may have hundreds of headers: one for each path that is copied.
    const server = createServer({ maxHeaderListPairs: 65_536 } as Parameters<typeof createServer>[0]);
    server.on("sessionError", () => {});
    server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _: number, raw: string[]) => {
      void answer(stream, `${headers[":path"]}`, { handlers, metadata: metadataOf(raw) });
    });
    server.emit("connection", socket);
    return new BuildSession(id, socket, server);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
    this.#server.close();
  }
}

interface Announcement {
  readonly id: string;
  readonly methods: readonly string[];
  readonly contextKey: string;
}

/** Turns a fresh connection into one on which the engine speaks HTTP/2 as a client. */
async function upgrade(socket: Socket, { id, methods, contextKey }: Announcement): Promise<void> {
  const lines = [
    `POST ${EngineApi.path("/session")} HTTP/1.1`,
    "Host: docker",
    "Connection: Upgrade",
    "Upgrade: h2c",
    "Content-Length: 0",
    `X-Docker-Expose-Session-Uuid: ${id}`,
    "X-Docker-Expose-Session-Name: slipway",
    `X-Docker-Expose-Session-Sharedkey: ${contextKey}`,
    ...methods.map((method) => `X-Docker-Expose-Session-Grpc-Method: ${method}`),
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const { head, rest } = await answerHead(socket);
  if (!head.startsWith("HTTP/1.1 101 ")) throw away("it refuses a build session");
  if (rest.length > 0) socket.unshift(rest);
}

function answerHead(socket: Socket): Promise<{ head: string; rest: Buffer }> {
  return new Promise((resolve, reject) => {
    let seen: Buffer = Buffer.alloc(0);
    const done = (finish: () => void) => {
      clearTimeout(timer);
      socket.off("data", onData);
      socket.off("close", onClose);
      finish();
    };
    const onData = (bytes: Buffer) => {
      seen = Buffer.concat([seen, bytes]);
      const end = seen.indexOf("\r\n\r\n");
      if (end !== -1) {
        done(() => resolve({ head: seen.toString("latin1", 0, end), rest: seen.subarray(end + 4) }));
      } else if (seen.length > MAX_HEAD_BYTES) done(() => reject(away("it refuses a build session")));
    };
    const onClose = () => done(() => reject(away("it refuses a build session")));
    const timer = setTimeout(() => done(() => reject(away("it does not answer"))), ANSWER_MS);
    socket.on("data", onData);
    socket.on("close", onClose);
  });
}

async function answer(
  stream: ServerHttp2Stream,
  method: string,
  { handlers, metadata }: { readonly handlers: CallHandlers; readonly metadata: CallMetadata },
): Promise<void> {
  const call = new GrpcStream(stream);
  try {
    if (method === "/grpc.health.v1.Health/Check") {
      await call.send(HEALTHY);
      return call.end();
    }
    const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
    if (!handler) return call.end(GRPC_STATUS.unimplemented, "There is no such method");
    await handler(call, metadata);
    call.end();
  } catch {
    call.end(GRPC_STATUS.unknown, "The other side failed");
  }
}

/** Names and values as they came, as one value may hold the comma that several are joined with. */
function metadataOf(raw: readonly string[]): CallMetadata {
  const metadata = new Map<string, string[]>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const values = metadata.get(raw[at]!) ?? [];
    values.push(raw[at + 1]!);
    metadata.set(raw[at]!, values);
  }
  for (const [name, values] of metadata) {
    const isEncoded = metadata.get(`${name}-encoded`)?.[0] === "1";
    if (isEncoded)
      metadata.set(
        name,
        values.map((value) => decodeURIComponent(value.replaceAll("+", " "))),
      );
  }
  return metadata;
}
