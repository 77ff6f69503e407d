import type { Socket } from "bun";

/** A load: one request, repeated over several persistent connections. */
export interface Load {
  readonly port: number;
  readonly request: string;
  readonly connections: number;
  readonly requests: number;
}

interface Connection {
  buffer: Buffer;
}

/** Sends a load and returns the number of responses per second. Rejects on any status but 200. */
export async function httpLoad({ port, request, connections, requests }: Load): Promise<number> {
  let sent = 0;
  let answered = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const send = (socket: Socket<Connection>) => {
    if (sent >= requests) return;
    sent++;
    socket.write(request);
  };
  const started = performance.now();
  const sockets = await Promise.all(
    Array.from({ length: connections }, () =>
      Bun.connect<Connection>({
        hostname: "127.0.0.1",
        port,
        data: { buffer: Buffer.alloc(0) },
        socket: {
          data(socket, chunk) {
            socket.data.buffer = Buffer.concat([socket.data.buffer, chunk]);
            const length = answerLength(socket.data.buffer);
            if (length === undefined || socket.data.buffer.length < length) return;
            if (!socket.data.buffer.subarray(0, 15).includes(" 200 "))
              reject(new Error(socket.data.buffer.toString().slice(0, 500)));
            socket.data.buffer = socket.data.buffer.subarray(length);
            answered++;
            if (answered === requests) resolve();
            else send(socket);
          },
          error: (_, error) => reject(error),
        },
      }),
    ),
  );
  for (const socket of sockets) send(socket);
  await promise;
  const seconds = (performance.now() - started) / 1000;
  for (const socket of sockets) socket.end();
  return requests / seconds;
}

/** The length of a whole response, head included, once its head has arrived. */
function answerLength(buffer: Buffer): number | undefined {
  const end = buffer.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const length = /content-length: (\d+)/i.exec(buffer.subarray(0, end).toString())?.[1];
  if (length === undefined) throw new Error("the answer has no content-length");
  return end + 4 + Number(length);
}
