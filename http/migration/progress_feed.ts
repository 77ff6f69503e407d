import type { FeedEvent } from "../event_stream.ts";

/** How the end of the work is told. */
interface FeedOptions {
  /** Converts an error to the common error body. */
  readonly problem: (error: unknown) => Promise<unknown>;
}

/** Does work, and yields what it reports meanwhile as events; the last one has its result or its problem. */
export async function* progressFeed(
  work: (progress: (sentence: string) => void) => Promise<unknown>,
  { problem }: FeedOptions,
): AsyncGenerator<readonly FeedEvent[]> {
  let waiting: FeedEvent[] = [];
  let wake = Promise.withResolvers<void>();
  let id = 0;
  let isDone = false;
  const tell = (event: string, data: unknown) => {
    waiting.push({ id: ++id, event, data });
    wake.resolve();
  };
  void work((message) => tell("progress", { message }))
    .then(
      (result) => tell("result", result),
      async (error: unknown) => tell("problem", await problem(error)),
    )
    .finally(() => {
      isDone = true;
      wake.resolve();
    });
  for (;;) {
    await wake.promise;
    const ready = waiting;
    const isLast = isDone;
    waiting = [];
    wake = Promise.withResolvers<void>();
    if (ready.length > 0) yield ready;
    if (isLast && waiting.length === 0) return;
  }
}
