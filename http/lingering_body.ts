/** A request whose body can still be drained after its route has returned. */
export interface LingeringBody {
  readonly request: Request;
  /** Reads and discards the rest of the body. Stops early when that is too large, or when the client stalls. */
  drain(): Promise<void>;
}

const MOST_BYTES = 64 * 2 ** 20;
const STANDS_STILL_MS = 1_000;

/**
 * Prepares a request whose connection closes after its response. With unread bytes left, the client would see a
 * connection reset, often before it has read the response. Returns `undefined` where that cannot happen.
 */
export function lingeringBody(request: Request): LingeringBody | undefined {
  const { method } = request;
  if (method === "GET" || method === "HEAD" || !request.body) return undefined;
  if (request.headers.get("connection")?.toLowerCase() !== "close") return undefined;
  const reader = request.body.getReader();
  let ended = false;

  async function next(): Promise<Uint8Array | undefined> {
    const { done, value } = await reader.read();
    ended = done;
    return value;
  }

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await next();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );

  async function drain(): Promise<void> {
    for (let bytes = 0; !ended && bytes < MOST_BYTES;) {
      const patience = Promise.withResolvers<undefined>();
      const timer = setTimeout(() => patience.resolve(undefined), STANDS_STILL_MS);
      const chunk = await Promise.race([next().catch(() => undefined), patience.promise]);
      clearTimeout(timer);
      if (chunk === undefined) return;
      bytes += chunk.length;
    }
  }

  return { request: new Request(request, { method, body }), drain };
}
