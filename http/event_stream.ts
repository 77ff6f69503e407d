const encoder = new TextEncoder();
/** What is sent at once: with many slow readers, what each of them has not taken yet adds up. */
const PIECE_CHARACTERS = 32_768;

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
  let pieces: readonly Uint8Array[] = [];
  let sent = 0;
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

/** The bytes of a batch in pieces, made once for all who are sent the very same one. */
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

// JSON has no raw newline, so one data line always suffices.
function frame({ id, event, data }: FeedEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
