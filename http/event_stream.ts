const encoder = new TextEncoder();
/** The size of a chunk. Small, because the unsent chunks of many slow readers add up. */
const PIECE_CHARACTERS = 32_768;

/** One server-sent event. */
export interface FeedEvent {
  readonly id: number;
  readonly event: string;
  readonly data: unknown;
}

export interface EventStreamOptions {
  readonly heartbeatMs?: number;
  /** Called with an error of the source. The client only sees the stream end, and resumes. */
  readonly report: (error: unknown) => void;
  /** Called when the client disconnects. It must wake a source that waits for an event, so that it ends. */
  readonly onLeave?: () => void;
}

/**
 * Serves batches of events as `text/event-stream` (SSE), with backpressure: it requests a batch only when the client
 * has consumed the previous one, so a slow reader costs no memory. Ends the iteration when the client disconnects.
 */
export function eventStream(
  source: AsyncIterable<readonly FeedEvent[]>,
  { heartbeatMs = 15_000, report, onLeave }: EventStreamOptions,
): Response {
  const batches = source[Symbol.asyncIterator]();
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  let pieces: readonly Uint8Array[] = [];
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(": open\n\n"));
    },
    async pull(controller) {
      // Starts no timer for a response that is never read, such as the response to a HEAD request.
      heartbeat ??= setInterval(() => {
        // Skips heartbeats while the client does not read, so that they do not pile up.
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": beat\n\n"));
      }, heartbeatMs);
      try {
        let ended: boolean | undefined = false;
        while (sent === pieces.length && !ended) {
          const { value, done } = await batches.next();
          [pieces, sent, ended] = [done ? [] : bytesOf(value), 0, done];
        }
        if (!ended) return controller.enqueue(pieces[sent++]!);
      } catch (error) {
        report(error);
      }
      clearInterval(heartbeat);
      controller.close();
    },
    async cancel() {
      clearInterval(heartbeat);
      onLeave?.();
      await batches.return?.();
    },
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
  });
}

const made = new WeakMap<readonly FeedEvent[], readonly Uint8Array[]>();

/** Encodes a batch in chunks, once for all clients that receive the same array. */
function bytesOf(batch: readonly FeedEvent[]): readonly Uint8Array[] {
  const known = made.get(batch);
  if (known) return known;
  const pieces: Uint8Array[] = [];
  let text = "";
  for (const event of batch) {
    text += frame(event);
    if (text.length < PIECE_CHARACTERS) continue;
    pieces.push(encoder.encode(text));
    text = "";
  }
  if (text !== "") pieces.push(encoder.encode(text));
  made.set(batch, pieces);
  return pieces;
}

// JSON contains no raw newline, so one data line always suffices.
function frame({ id, event, data }: FeedEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
