import type { Listing, Page } from "../../domain/page.ts";
import { copied } from "./copied.ts";

/** Copies one page of rows, newest first, ties by id descending. */
export function newestFirst<T>(
  rows: Iterable<T>,
  { page, perPage }: Page,
  by: { readonly at: (row: T) => Date; readonly id: (row: T) => string },
): Listing<T> {
  const sorted = [...rows].sort((a, b) => {
    const later = by.at(b).getTime() - by.at(a).getTime();
    if (later !== 0) return later;
    return by.id(a) < by.id(b) ? 1 : -1;
  });
  return { items: copied(sorted.slice((page - 1) * perPage, page * perPage)), total: sorted.length };
}

/** Sorts by `createdAt`, then `id`. */
export const BY_CREATION = {
  at: ({ createdAt }: { readonly createdAt: Date }) => createdAt,
  id: ({ id }: { readonly id: string }) => id,
};
