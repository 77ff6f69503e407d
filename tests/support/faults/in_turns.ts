/** Gives a function that does work when its turn has come: so many at once. */
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
