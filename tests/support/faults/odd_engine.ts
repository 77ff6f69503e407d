/** A container engine that has no images, and how it receives one: it refuses it at once, or never reads it. */
export interface OddEngine extends Disposable {
  /** Its address, as in `DOCKER_HOST`. */
  readonly host: string;
}

/** Starts an engine that accepts no image. */
export function oddEngine(loading: "refuses" | "hangs"): OddEngine {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("/images/json")) return Response.json([]);
      if (!pathname.endsWith("/images/load")) return Response.json({ message: "No such image" }, { status: 404 });
      if (loading === "hangs") return new Promise<Response>(() => {});
      return Response.json({ message: "no space left on device" }, { status: 500 });
    },
  });
  return { host: `tcp://127.0.0.1:${server.port}`, [Symbol.dispose]: () => void server.stop(true) };
}
