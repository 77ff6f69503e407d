import type { Once, OnceAnswer, OnceRequest, StreamedBody } from "../application/system/answer_once.ts";
import { invalidField } from "../domain/failure.ts";
import type { Principal } from "../domain/identity/permission.ts";
import { fingerprint } from "../domain/identity/token.ts";
import type { Operation } from "./operation.ts";
import { BROKEN_OFF } from "./problems.ts";

/** Answers a request once per idempotency key; see `application/system/answer_once.ts`. */
export type AnswerOnce = <T>(request: OnceRequest, run: () => Promise<OnceAnswer<T>>) => Promise<Once<T>>;

/** A request with an `Idempotency-Key` header. */
export interface KeyedRequest {
  readonly key: string;
  readonly route: string;
  /** The only caller that the response may be replayed to. */
  readonly caller: string;
  /** Whether to store refusals too. Those of unauthenticated callers would fill the store. */
  readonly keepsRefusals: boolean;
  readonly operation: Operation;
  /** The bytes of the body; absent when the route streams it. */
  readonly body: Uint8Array | undefined;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/**
 * Runs a request with an idempotency key once. A repeated one gets the stored response, without secrets that are shown
 * once.
 */
export async function runOnce(
  answerOnce: AnswerOnce,
  { key, route, caller, keepsRefusals, operation, body, signal }: KeyedRequest,
  stream: BodyDigest | undefined,
  run: () => Promise<Response>,
): Promise<Response> {
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw invalidField("Idempotency-Key", "use 1 to 255 visible ASCII characters");
  const request: OnceRequest = {
    // A key counts per route, so that a client may use one key for several steps of its work.
    caller: `${caller} ${route}`,
    key,
    route,
    body: stream ? null : new Bun.CryptoHasher("sha256").update(body ?? "").digest("hex"),
    signal,
    ...(stream && { streamed: stream }),
  };
  const once = await answerOnce(request, async () => {
    const response = await run();
    const isKept = keepsRefusals || response.status < 400;
    return { answer: response, kept: isKept ? await kept(response, operation) : undefined };
  });
  if (!once.replayed) return once.answer;
  const { status, body: text } = once.answer;
  return new Response(text, {
    status,
    headers: { "content-type": "application/json", "idempotency-replayed": "true" },
  });
}

/** Identifies the caller of an open route, for replays, by the secret in its body; `undefined` where there is none. */
export function holderOf({ callerField }: Operation, body: object | undefined): string | undefined {
  const fields: Readonly<Record<string, unknown>> = { ...body };
  const secret = callerField === undefined ? undefined : fields[callerField];
  return typeof secret === "string" ? `holder ${fingerprint(secret)}` : undefined;
}

/**
 * Identifies a caller together with its permissions: a response is replayed only to a caller with exactly the same
 * ones.
 */
export function callerOf(principal: Principal): string {
  const { organizationId, userId, role, grants, narrowing, actingFor } = principal;
  // Members of a linked installation share its token, and may choose the same keys.
  const rights = [role, grants, narrowing, ...(actingFor ? [actingFor.id] : [])];
  return `${organizationId}/${userId} ${fingerprint(JSON.stringify(rights))}`;
}

async function kept(response: Response, { shownOnce = [] }: Operation) {
  // A server error, and a throttled, unauthenticated or disconnected caller, may succeed on a retry.
  if (response.status >= 500 || [401, 429, BROKEN_OFF].includes(response.status)) return undefined;
  const text = await response.clone().text();
  if (shownOnce.length === 0 || response.status >= 400) return { status: response.status, body: text };
  const body = JSON.parse(text) as Record<string, unknown>;
  for (const path of shownOnce) blank(body, path.split("."));
  return { status: response.status, body: JSON.stringify(body) };
}

function blank(value: Record<string, unknown>, [head, ...rest]: string[]): void {
  if (head === undefined || !(head in value)) return;
  if (rest.length === 0) value[head] = null;
  else blank(value[head] as Record<string, unknown>, rest);
}

/** Hashes a body while it streams through. */
export class BodyDigest implements StreamedBody {
  readonly #hash = new Bun.CryptoHasher("sha256");
  readonly #stream: ReadableStream<Uint8Array>;
  #fingerprint: string | undefined;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#stream = body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          this.#hash.update(chunk);
          controller.enqueue(chunk);
        },
        flush: () => {
          this.#fingerprint = this.#hash.digest("hex");
        },
      }),
    );
  }

  get stream(): ReadableStream<Uint8Array> {
    return this.#stream;
  }

  seen(): string | undefined {
    return this.#fingerprint;
  }

  async rest(): Promise<string> {
    for await (const chunk of this.#stream) void chunk;
    return this.#fingerprint ?? "";
  }
}
