import { expect } from "bun:test";
import type { Listing, Page } from "../../domain/page.ts";

/** Checks a list page by page and as a whole: same rows, same order, same total, nothing past the end. */
export async function expectPages<T>(
  list: (page: Page) => Promise<Listing<T>>,
  expected: readonly string[],
  idOf: (item: T) => string,
): Promise<void> {
  const seen: string[] = [];
  const pages = Math.ceil(expected.length / 2);
  for (let page = 1; page <= pages; page++) {
    const { items, total } = await list({ page, perPage: 2 });
    expect(total).toBe(expected.length);
    expect(items.length).toBe(page < pages ? 2 : expected.length - 2 * (pages - 1));
    seen.push(...items.map(idOf));
  }
  expect(seen).toEqual([...expected]);
  expect(await list({ page: pages + 1, perPage: 2 })).toEqual({ items: [], total: expected.length });
  expect(await list({ page: 1_000_000, perPage: 100 })).toEqual({ items: [], total: expected.length });
  expect((await list({ page: 1, perPage: 100 })).items.map(idOf)).toEqual([...expected]);
}

/** Sorts rows as every list does: newest first, equal times by id descending. */
export function newestFirst<T>(rows: readonly T[], by: { at: (row: T) => Date; id: (row: T) => string }): T[] {
  return rows.toSorted((a, b) => {
    const later = by.at(b).getTime() - by.at(a).getTime();
    if (later !== 0) return later;
    return by.id(a) < by.id(b) ? 1 : -1;
  });
}

/** Offsets that leave insertion order, time order and id order all different, with three equal times among them. */
export const SHUFFLED_MINUTES = [3, 1, 1, 5, 1] as const;
