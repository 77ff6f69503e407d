const encoder = new TextEncoder();

/** One event of a feed. */
export interface FeedEvent {
  readonly id: number;
  readonly event: string;
  readonly data: unknown;
}

export interface EventStreamOptions {
  readonly heartbeatMs?: number;
  /** Told what the source threw; the client only sees the feed end and resumes. */
  readonly report: (error: unknown) => void;
  /** Told when the client leaves: a source that waits for an event must be woken to end. */
  readonly onLeave?: () => void;
}

/**
 * Serves batches of events as `text/event-stream`. A batch is asked for only when the client has taken the one before, so a slow
 * reader costs no memory; a client that leaves ends the iteration.
 */
export function eventStream(
  source: AsyncIterable<readonly FeedEvent[]>,
  { heartbeatMs = 15_000, report, onLeave }: EventStreamOptions,
): Response {
  const batches = source[Symbol.asyncIterator]();
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(": open\n\n"));
    },
    async pull(controller) {
      // Nothing runs for an answer that nobody begins to read, such as that of a HEAD request.
      heartbeat ??= setInterval(() => {
        // Whoever does not read gets no heartbeats piled up either.
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": beat\n\n"));
      }, heartbeatMs);
      try {
        const { value, done } = await batches.next();
        if (!done) return controller.enqueue(encoder.encode(value.map(frame).join("")));
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

// JSON has no raw newline, so one data line always suffices.
function frame({ id, event, data }: FeedEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
