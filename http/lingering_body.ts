/** A request whose body can be read on after its route has left it. */
export interface LingeringBody {
  readonly request: Request;
  /** Reads what is left and keeps nothing of it; ends early when that is much, or the sender stands still. */
  drain(): Promise<void>;
}

const MOST_BYTES = 64 * 2 ** 20;
const STANDS_STILL_MS = 1_000;

/**
 * Prepares a request whose connection is closed after its answer. With unread bytes on it the sender is told of a broken
 * connection, often before it has read the answer; `undefined` where that cannot happen.
 */
export function lingeringBody(request: Request): LingeringBody | undefined {
  const { method } = request;
  const closes = request.headers.get("connection")?.toLowerCase() === "close";
  if (!request.body || !closes || method === "GET" || method === "HEAD") return undefined;
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
