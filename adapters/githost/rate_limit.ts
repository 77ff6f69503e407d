/** Waits of a secondary rate limit that the host does not time. */
const UNTIMED_SECONDS = 60;

/**
 * Returns the seconds until a rate limit of the git host ends; `undefined` if the answer is no rate limit. The host
 * announces its primary limit by the time of its reset, and others by a delay.
 */
export function rateLimitSeconds(
  status: number,
  header: (name: string) => string | null | undefined,
  now: Date = new Date(),
): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const delay = Number.parseInt(header("retry-after") ?? "", 10);
  if (Number.isFinite(delay)) return Math.max(delay, 1);
  if (header("x-ratelimit-remaining") === "0") {
    const reset = Number.parseInt(header("x-ratelimit-reset") ?? "", 10);
    // One second more, because the host's clock may be a little behind.
    return Number.isFinite(reset) ? Math.max(Math.ceil(reset - now.getTime() / 1_000) + 1, 1) : UNTIMED_SECONDS;
  }
  return status === 429 ? UNTIMED_SECONDS : undefined;
}
