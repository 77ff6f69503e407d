const LONGEST_PAUSE_MS = 50;

/**
 * Asks again until the answer satisfies, and resolves to it. Rejects with what was seen last, an answer or an error,
 * when that takes longer than told.
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  satisfies: (answer: T) => boolean,
  limitMs = 20_000,
): Promise<T> {
  const giveUpAt = Date.now() + limitMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs + 1, LONGEST_PAUSE_MS)) {
    let unsatisfied: Error;
    try {
      const answer = await ask();
      if (satisfies(answer)) return answer;
      unsatisfied = new Error(
        `It stays as it is for ${limitMs} ms: ${Bun.inspect(answer, { depth: 6 }).slice(0, 4_000)}`,
      );
    } catch (cause) {
      unsatisfied = new Error(`It fails for ${limitMs} ms: ${cause instanceof Error ? cause.message : cause}`, {
        cause,
      });
    }
    if (Date.now() > giveUpAt) throw unsatisfied;
    await Bun.sleep(pauseMs);
  }
}
