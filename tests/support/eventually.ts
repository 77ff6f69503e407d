const LONGEST_PAUSE_MS = 200;
const GROWTH = 1.3;
/** The pause after an attempt is at least this multiple of its duration, up to a limit. */
const REST = 3;
const LONGEST_REST_MS = 1_000;
/** Only what never happens takes this long: a busy machine can be ten times slower than an idle one. */
const LIMIT_MS = 240_000;

/**
 * Retries until the result satisfies, and resolves to it. Rejects with the last result or error when the timeout
 * expires. Expensive attempts are made less often, because others need the machine, too.
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  satisfies: (answer: T) => boolean,
  limitMs = LIMIT_MS,
): Promise<T> {
  const giveUpAt = Date.now() + limitMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * GROWTH, LONGEST_PAUSE_MS)) {
    const startedAt = performance.now();
    let unsatisfied: () => Error;
    try {
      const answer = await ask();
      if (satisfies(answer)) return answer;
      unsatisfied = () => new Error(`Not satisfied within ${limitMs} ms: ${shown(answer)}`);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      unsatisfied = () => new Error(`Still failing after ${limitMs} ms: ${why}`, { cause });
    }
    if (Date.now() > giveUpAt) throw unsatisfied();
    await Bun.sleep(Math.max(pauseMs, Math.min(REST * (performance.now() - startedAt), LONGEST_REST_MS)));
  }
}

function shown(answer: unknown): string {
  return Bun.inspect(answer, { depth: 6 }).slice(0, 4_000);
}
