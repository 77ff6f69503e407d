/** Large, as to find a place in a large log takes an engine long; readers bound their pages by size, too. */
const PAGE = 100_000;

/** A part of what is read: so many after a number. */
interface Part {
  readonly since: number;
  readonly limit: number;
}

/**
 * The last `count` lines after `since`, in order, of what can only be read forwards; no more than these and a page are
 * held at once. Lines that are printed meanwhile are not waited for.
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
