/** Returns a wrapper that limits how many of its functions run concurrently; the others wait in a queue. */
export function inTurns(atOnce: number): (work: () => Promise<void>) => () => Promise<void> {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return (work) =>
    async function () {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free++;
      }
    };
}
