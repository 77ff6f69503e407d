import { conflict } from "../../domain/failure.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { IdempotentAnswers, IdempotentRequest, KeptAnswer } from "../../ports/system/idempotent_answers.ts";

const LEASE_MS = 15_000;
const LOOK_AGAIN_MS = 50;
const LOOK_AGAIN_MAX_MS = 500;
/** As long as the longest answer takes, and shorter than a connection may stay silent. */
const WAIT_MS = 55_000;

/** A request that is to be answered once. */
export interface OnceRequest extends IdempotentRequest {
  /** The body, where it streams in and its fingerprint comes last. */
  readonly streamed?: StreamedBody;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Fingerprints a body that streams past. */
export interface StreamedBody {
  /** The whole body's fingerprint, if it was read to its end. */
  seen(): string | undefined;
  /** Reads what is left, and tells the whole body's fingerprint. */
  rest(): Promise<string>;
}

/** An answer and what of it may be kept; `kept` is absent where nothing may. */
export interface OnceAnswer<T> {
  readonly answer: T;
  readonly kept: KeptAnswer | undefined;
}

export type Once<T> =
  | { readonly replayed: false; readonly answer: T }
  | { readonly replayed: true; readonly answer: KeptAnswer };

/** Runs a request the first time its key is seen and replays the answer after that; a concurrent one waits for the first. */
export function answerOnce({
  clock,
  idempotentAnswers,
}: {
  readonly clock: Clock;
  readonly idempotentAnswers: IdempotentAnswers;
}) {
  return async function <T>(request: OnceRequest, run: () => Promise<OnceAnswer<T>>): Promise<Once<T>> {
    const until = clock.now().getTime() + WAIT_MS;
    for (let pause = LOOK_AGAIN_MS; ; pause = Math.min(2 * pause, LOOK_AGAIN_MAX_MS)) {
      request.signal.throwIfAborted();
      const claim = await idempotentAnswers.claim(request, LEASE_MS);
      if (claim.state === "mine") return { replayed: false, answer: await runClaimed(claim.claimId, request, run) };
      if (claim.state === "other_request") throw otherRequest();
      if (claim.state === "answered") {
        if ((request.body ?? (await request.streamed?.rest())) !== claim.body) throw otherRequest();
        return { replayed: true, answer: claim.answer };
      }
      if (clock.now().getTime() > until) throw stillRunning();
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  };

  async function runClaimed<T>(claimId: string, request: OnceRequest, run: () => Promise<OnceAnswer<T>>): Promise<T> {
    const renewal = setInterval(() => void idempotentAnswers.renew(claimId, LEASE_MS).catch(() => {}), LEASE_MS / 3);
    let settled = false;
    try {
      const { answer, kept } = await run();
      // A body that was refused before its end cannot be told from another one; its answer is not worth reading the rest.
      const body = request.body ?? request.streamed?.seen();
      if (kept && body !== undefined) {
        await idempotentAnswers.keep(claimId, body, kept);
        settled = true;
      }
      return answer;
    } finally {
      clearInterval(renewal);
      if (!settled) await idempotentAnswers.release(claimId).catch(() => {});
    }
  }
}

function otherRequest() {
  return conflict(
    "idempotency_key_reused",
    "Cannot repeat this: the Idempotency-Key was used for another request. Use a new key",
  );
}

function stillRunning() {
  const sentence =
    "Cannot repeat this yet: the first request with this Idempotency-Key is still running. Try again later";
  return conflict("idempotency_key_running", sentence, { retryAfter: 5 });
}
