import { createServer, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { away, type EngineApi } from "../engine/engine_api.ts";
import { grantingUpdates } from "./granting_updates.ts";
import { GRPC_STATUS, GrpcStream } from "./grpc_stream.ts";

/** The headers of a call; a name may occur more than once. */
export type CallMetadata = ReadonlyMap<string, readonly string[]>;

/** Handles the calls of one method; the call fails when the handler rejects. */
export type CallHandler = (call: GrpcStream, metadata: CallMetadata) => Promise<void>;

/** The handlers of the engine's calls, by method path. */
export type CallHandlers = Readonly<Record<string, CallHandler>>;

const ANSWER_MS = 30_000;
const MAX_HEAD_BYTES = 16_384;
/** Every path that a build copies is a header of its own. */
const HEADER_LIMITS = { maxHeaderListPairs: 100_000, settings: { maxHeaderListSize: 4 * 1_024 * 1_024 } };
const HEALTHY = Uint8Array.of(0x08, 1);

/** A connection on which the engine's builder requests what a build needs, while it lasts. */
export class BuildSession implements Disposable {
  readonly id: string;
  readonly #socket: Socket;

  private constructor(id: string, socket: Socket) {
    this.id = id;
    this.#socket = socket;
  }

  /** Opens a session. The engine compares contexts of the same key, so that only changes are sent. */
  static async open(engine: EngineApi, handlers: CallHandlers, contextKey: string): Promise<BuildSession> {
    const id = crypto.randomUUID().replaceAll("-", "");
    const socket = await engine.connect();
    // The build itself notices a broken connection.
    socket.on("error", () => {});
    try {
      const arrived = await upgrade(socket, {
        path: engine.path("/session"),
        id,
        methods: Object.keys(handlers),
        contextKey,
      });
      const server = createServer(HEADER_LIMITS);
      server.on("sessionError", () => socket.destroy());
      server.on("stream", (stream: ServerHttp2Stream, _headers: object, _flags: number, raw: readonly string[]) => {
        void answer(stream, raw, handlers);
      });
      server.emit("connection", grantingUpdates(socket, arrived));
      return new BuildSession(id, socket);
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

interface Announcement {
  readonly path: string;
  readonly id: string;
  readonly methods: readonly string[];
  readonly contextKey: string;
}

/**
 * Upgrades a new connection to HTTP/2 with the engine as the client; resolves to the bytes received after the upgrade.
 */
async function upgrade(socket: Socket, { path, id, methods, contextKey }: Announcement): Promise<Buffer> {
  const lines = [
    `POST ${path} HTTP/1.1`,
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
  return rest;
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

async function answer(stream: ServerHttp2Stream, raw: readonly string[], handlers: CallHandlers): Promise<void> {
  const call = new GrpcStream(stream);
  try {
    const metadata = metadataOf(raw);
    const method = metadata.get(":path")?.[0] ?? "";
    if (method === "/grpc.health.v1.Health/Check") await call.send(HEALTHY);
    else if (Object.hasOwn(handlers, method)) await handlers[method]!(call, metadata);
    else await call.end(GRPC_STATUS.unimplemented, "There is no such method");
    await call.end();
  } catch {
    await call.end(GRPC_STATUS.unknown, "The other side failed");
  }
}

/** Groups header values by name, in order, from alternating names and values; decodes those marked as encoded. */
function metadataOf(raw: readonly string[]): CallMetadata {
  const metadata = new Map<string, string[]>();
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!;
    const values = metadata.get(name) ?? [];
    values.push(Buffer.from(raw[at + 1]!, "latin1").toString());
    metadata.set(name, values);
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
