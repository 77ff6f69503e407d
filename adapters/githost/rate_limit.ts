/** What of an answer announces a rate limit. */
export interface LimitedAnswer {
  readonly status: number;
  readonly header: (name: string) => string | null | undefined;
  /** The body of an answer that is no success. */
  readonly words: string;
}

/** How long to wait when the host does not say it, as it advises. */
const UNTIMED_SECONDS = 60;

/**
 * Returns the seconds until a rate limit of the git host ends; `undefined` if the answer is no rate limit. The host
 * announces its primary limit by the time of its reset, and others by a delay, or only in words.
 */
export function rateLimitSeconds(answer: LimitedAnswer, now: Date = new Date()): number | undefined {
  const { status, header, words } = answer;
  if (status !== 403 && status !== 429) return undefined;
  const delay = Number.parseInt(header("retry-after") ?? "", 10);
  if (Number.isFinite(delay)) return Math.max(delay, 1);
  if (header("x-ratelimit-remaining") === "0") {
    const reset = Number.parseInt(header("x-ratelimit-reset") ?? "", 10);
    // One second more, because the host's clock may be a little behind.
    return Number.isFinite(reset) ? Math.max(Math.ceil(reset - now.getTime() / 1_000) + 1, 1) : UNTIMED_SECONDS;
  }
  return status === 429 || /\bsecondary rate limit\b/i.test(words) ? UNTIMED_SECONDS : undefined;
}
