/** Asks again until the answer satisfies, and resolves to it; gives up with the last answer after twenty seconds unless told. */
export async function eventually<T>(
  ask: () => Promise<T>,
  satisfies: (answer: T) => boolean,
  limitMs = 20_000,
): Promise<T> {
  const giveUpAt = Date.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (satisfies(answer) || Date.now() > giveUpAt) return answer;
    await Bun.sleep(20);
  }
}
