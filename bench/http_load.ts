import type { Socket } from "bun";

/** A load: one request after the other over several persistent connections. */
export interface Load {
  readonly port: number;
  /** The request to repeat, or the next one. */
  readonly request: string | (() => string);
  readonly connections: number;
  /** How long to send. */
  readonly ms: number;
  /** The server name for TLS, with any certificate; plain HTTP without it. */
  readonly serverName?: string;
}

interface Connection {
  /** How many bytes of the current response have arrived. */
  arrived: number;
  /** The length of the current response; `undefined` until its head has arrived. */
  length: number | undefined;
  /** The incomplete head of the current response. */
  head: string;
}

/** Sends a load and returns the number of responses per second. Rejects on any status but 200. */
export async function httpLoad({ port, request, connections, ms, serverName }: Load): Promise<number> {
  let answered = 0;
  let waiting = 0;
  let isOver = false;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const encrypted = Promise.withResolvers<void>();
  let handshakes = 0;
  const bytes = typeof request === "string" ? Buffer.from(request) : undefined;
  const send = (socket: Socket<Connection>) => {
    waiting++;
    socket.write(bytes ?? (request as () => string)());
  };
  const receive = (socket: Socket<Connection>, chunk: Buffer) => {
    const { data } = socket;
    data.arrived += chunk.length;
    if (data.length === undefined) {
      // Heads are short: usually all of it is in the first chunk.
      data.head += chunk.toString("latin1", 0, 2_000);
      data.length = answerLength(data.head);
    }
    if (data.length === undefined || data.arrived < data.length) return;
    socket.data = { arrived: 0, length: undefined, head: "" };
    answered++;
    waiting--;
    if (!isOver) send(socket);
    else if (waiting === 0) resolve();
  };
  const sockets = await Promise.all(
    Array.from({ length: connections }, () =>
      Bun.connect<Connection>({
        hostname: "127.0.0.1",
        port,
        data: { arrived: 0, length: undefined, head: "" },
        ...(serverName !== undefined && { tls: { serverName, rejectUnauthorized: false } }),
        socket: {
          data(socket, chunk) {
            try {
              receive(socket, chunk);
            } catch (error) {
              reject(error as Error);
            }
          },
          handshake: () => void (++handshakes === connections && encrypted.resolve()),
          error: (_, error) => reject(error),
          close: () => reject(new Error("the server closed a connection")),
        },
      }),
    ),
  );
  if (serverName !== undefined) await Promise.race([encrypted.promise, promise]);
  const started = performance.now();
  for (const socket of sockets) send(socket);
  const timer = setTimeout(() => (isOver = true), ms);
  await promise.finally(() => clearTimeout(timer));
  const seconds = (performance.now() - started) / 1000;
  for (const socket of sockets) socket.end();
  return answered / seconds;
}

/** The length of a whole response, head included, once its head has arrived. */
function answerLength(head: string): number | undefined {
  const end = head.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  if (!head.startsWith("HTTP/1.1 200 ")) throw new Error(head.slice(0, 500));
  const length = /content-length: (\d+)/i.exec(head.slice(0, end))?.[1];
  if (length === undefined) throw new Error("the answer has no content-length");
  return end + 4 + Number(length);
}
