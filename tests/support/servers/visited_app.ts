/** An app that shows what it gets, for tests of what is in front of it. */
export interface VisitedApp extends Disposable {
  readonly port: number;
  /** How many bytes of the last upload have arrived. */
  readonly uploaded: number;
  /** Sends the second part of all streams, and ends them. */
  goOn(): void;
}

/**
 * Starts an app on a free port: `/events` streams server-sent events and `/lines` text, `/upload` reads and counts a body,
 * `/live` echoes messages over a WebSocket, and all other paths respond with the request as JSON.
 */
export function visitedApp(seen: (request: Request, peer: string) => object = () => ({})): VisitedApp {
  let following = Promise.withResolvers<void>();
  let uploaded = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 255,
    maxRequestBodySize: 2 ** 40,
    async fetch(request, bun) {
      const { pathname: path } = new URL(request.url);
      if (path === "/live") return bun.upgrade(request) ? undefined : new Response("no WebSocket", { status: 400 });
      if (path === "/events") return new Response(parts(), { headers: { "content-type": "text/event-stream" } });
      if (path === "/lines") return new Response(parts(), { headers: { "content-type": "text/plain" } });
      if (path === "/upload") {
        uploaded = 0;
        for await (const bytes of request.body ?? []) uploaded += bytes.length;
        return Response.json({ uploaded });
      }
      const headers = Object.fromEntries(request.headers);
      return Response.json({ path, headers, ...seen(request, bun.requestIP(request)?.address ?? "") });
    },
    websocket: { message: (socket, message) => void socket.send(message) },
  });
  async function* parts() {
    const { promise } = following;
    yield "data: first\n\n";
    await promise;
    yield "data: second\n\n";
  }
  return {
    port: server.port!,
    get uploaded() {
      return uploaded;
    },
    goOn() {
      following.resolve();
      following = Promise.withResolvers<void>();
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
}
