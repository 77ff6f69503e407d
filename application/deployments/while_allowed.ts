import { Failure } from "../../domain/failure.ts";

/** Yields what `follow` yields, and ends soon after `allowed` starts to reject. */
export async function* whileAllowed<T>(
  allowed: () => Promise<void>,
  recheckMs: number,
  follow: (done: AbortSignal) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const done = new AbortController();
  const recheck = setInterval(() => {
    allowed().catch((error: unknown) => {
      // An unavailable database says nothing about the caller.
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
