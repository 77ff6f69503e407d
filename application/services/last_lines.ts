/** Large, because seeking in a large log is slow in a container engine; readers bound their pages by size as well. */
const PAGE = 100_000;

/** A page of what is read: at most `limit` lines after number `since`. */
interface Part {
  readonly since: number;
  readonly limit: number;
}

/**
 * Returns the last `count` lines after `since`, in order, of a log that can only be read forwards. Holds at most
 * `count` lines and one page in memory. Does not wait for lines that are printed meanwhile.
 */
export async function lastLines<Line extends { readonly at: Date; readonly seq: number }>(
  read: (part: Part) => Promise<readonly Line[]>,
  { since, count }: { readonly since: number; readonly count: number },
): Promise<readonly Line[]> {
  const begun = Date.now();
  let last: readonly Line[] = [];
  for (let at = since; ;) {
    const page = await read({ since: at, limit: PAGE });
    if (page.length === 0) return last;
    at = page.at(-1)!.seq;
    last = [...last, ...page].slice(-count);
    if (page.at(-1)!.at.getTime() > begun) return last;
  }
}
