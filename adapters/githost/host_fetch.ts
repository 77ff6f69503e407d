import { setTimeout as sleep } from "node:timers/promises";
import { rateLimitSeconds } from "./rate_limit.ts";

/** Why a request got no answer that could be used. */
export class UnusableAnswer extends Error {
  override readonly name = "UnusableAnswer";
}

/** How requests to the git host are sent. */
export interface HostFetchOptions {
  /** The only origins that requests, with their credentials, are sent to. */
  readonly origins: readonly string[];
  readonly signal: AbortSignal;
  /** The time (`performance.now()`) until which rate limits are waited for. */
  readonly waitUntil: number;
  /** Milliseconds that one request may take, with its answer. Defaults to 10 s. */
  readonly timeoutMs?: number;
}

/** An answer of the git host that has arrived whole, as far as octokit looks at it: parsed, or the text of an error. */
export interface HostAnswer {
  readonly status: number;
  readonly url: string;
  readonly headers: Headers;
  readonly body: unknown;
  text(): Promise<string>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Sends a request to the git host. */
export type HostFetch = (address: string, init: HostFetchInit) => Promise<HostAnswer>;

/** A request, as octokit makes it. */
export interface HostFetchInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const TIMEOUT_MS = 10_000;
const RETRY_DELAYS_MS = [200, 1_000];
const MAX_REDIRECTS = 3;
const NO_JSON = "its answer is not the JSON that it should be";
const REDIRECTS = new Set([301, 302, 307, 308]);

/**
 * Returns a `fetch` for the git host. It waits for rate limits, repeats a GET that failed at most twice, follows
 * redirects only within their origin, returns answers only whole, and ends at once when the signal aborts.
 */
export function hostFetch(options: HostFetchOptions): HostFetch {
  const { origins, signal, waitUntil } = options;
  return async (address, init) => {
    const isSafe = (init.method ?? "GET") === "GET";
    let url = new URL(address);
    let [retries, redirects] = [0, 0];
    for (;;) {
      if (!origins.includes(url.origin)) throw new UnusableAnswer("it leads to another address, which is not followed");
      const answer = await attempt(url, init, options);
      const delay = isSafe && shouldRepeat(answer) ? RETRY_DELAYS_MS[retries++] : undefined;
      const limit = delay === undefined ? limitOf(answer) : undefined;
      const isWorthWaiting = limit !== undefined && performance.now() + limit <= waitUntil;
      if (delay !== undefined || isWorthWaiting) {
        await pause(delay ?? limit ?? 0, signal);
        continue;
      }
      if (answer instanceof Error) throw answer;
      const location = REDIRECTS.has(answer.status) ? answer.headers.get("location") : null;
      if (location === null) return answer;
      if (!isSafe && answer.status < 307) throw new UnusableAnswer("it redirects a change");
      if (++redirects > MAX_REDIRECTS) throw new UnusableAnswer("it redirects without end");
      url = new URL(location, url);
    }
  };
}

function shouldRepeat(answer: HostAnswer | Error): boolean {
  return answer instanceof Error ? !(answer instanceof UnusableAnswer) : answer.status >= 500;
}

/** Returns the milliseconds until a rate limit ends. */
function limitOf(answer: HostAnswer | Error): number | undefined {
  if (answer instanceof Error) return undefined;
  const words = typeof answer.body === "string" ? answer.body : "";
  const seconds = rateLimitSeconds({ status: answer.status, header: (name) => answer.headers.get(name), words });
  return seconds === undefined ? undefined : seconds * 1_000;
}

/** Sends a request once. Returns why there is no answer instead of throwing it, except for an aborted signal. */
async function attempt(
  url: URL,
  init: HostFetchInit,
  { signal, timeoutMs = TIMEOUT_MS }: HostFetchOptions,
): Promise<HostAnswer | Error> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    return await readAnswer(await fetch(url, { ...init, redirect: "manual", signal: AbortSignal.any([signal, late]) }));
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) return new UnusableAnswer(`it did not answer within ${timeoutMs / 1_000} s`);
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * Reads an answer. Octokit itself would pass half an answer on as text, or as an empty list, and its parser is ten times
 * as slow.
 */
async function readAnswer(response: Response): Promise<HostAnswer> {
  const { status, url, headers, ok: isSuccess } = response;
  const text = () => response.text();
  const arrayBuffer = () => response.arrayBuffer();
  if (status === 204 || status === 304) return { status, url, headers, body: "", text, arrayBuffer };
  if (!isSuccess) {
    const body = await response.text();
    const encoded = async () => Uint8Array.from(Buffer.from(body)).buffer;
    return { status, url, headers, body, text: async () => body, arrayBuffer: encoded };
  }
  const body: unknown = await response.json().catch((error: unknown) => {
    throw error instanceof SyntaxError ? new UnusableAnswer(NO_JSON) : error;
  });
  if (typeof body !== "object" || body === null) throw new UnusableAnswer(NO_JSON);
  return { status, url, headers, body, text, arrayBuffer };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
