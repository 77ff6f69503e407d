import { conflict } from "../../domain/failure.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { IdempotentAnswers, IdempotentRequest, KeptAnswer } from "../../ports/system/idempotent_answers.ts";

const LEASE_MS = 15_000;
const LOOK_AGAIN_MS = 50;
const LOOK_AGAIN_MAX_MS = 500;
/** As long as the slowest response takes, and shorter than the idle timeout of a connection. */
const WAIT_MS = 55_000;

/** A request with an idempotency key. */
export interface OnceRequest extends IdempotentRequest {
  /** The body, if it is streamed, so that its fingerprint is known only at the end. */
  readonly streamed?: StreamedBody;
  /** Aborts when the client no longer waits for the response. */
  readonly signal: AbortSignal;
}

/** Fingerprints a body while it streams through. */
export interface StreamedBody {
  /** The fingerprint of the whole body, if it was read to its end. */
  seen(): string | undefined;
  /** Reads the rest of the body, and returns the fingerprint of the whole. */
  rest(): Promise<string>;
}

/** A response, and the part of it to store; `kept` is `undefined` when it must not be stored. */
export interface OnceAnswer<T> {
  readonly answer: T;
  readonly kept: KeptAnswer | undefined;
}

export type Once<T> =
  | { readonly replayed: false; readonly answer: T }
  | { readonly replayed: true; readonly answer: KeptAnswer };

/**
 * Runs a request the first time its idempotency key is seen, and replays the stored response after that. A concurrent
 * request with the same key waits for the first.
 */
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
      // A body that was rejected before its end has no fingerprint to compare a retry with; its response is not worth
      // reading the rest.
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
