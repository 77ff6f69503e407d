import { Failure } from "../../domain/failure.ts";

/** Passes on what `follow` yields, and ends it soon after `allowed` began to refuse. */
export async function* whileAllowed<T>(
  allowed: () => Promise<void>,
  recheckMs: number,
  follow: (done: AbortSignal) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const done = new AbortController();
  const recheck = setInterval(() => {
    allowed().catch((error: unknown) => {
      // A database that is away says nothing about the caller.
      if (error instanceof Failure && error.kind !== "unavailable") done.abort();
    });
  }, recheckMs);
  try {
    for await (const events of follow(done.signal)) {
      if (done.signal.aborted) return;
      yield events;
    }
  } finally {
    clearInterval(recheck);
    done.abort();
  }
}
