/** The requested page of a list; `page` counts from 1. */
export interface Page {
  readonly page: number;
  readonly perPage: number;
}

/** One page of a list, with the total number of items. */
export interface Listing<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** The requested page of a list, of entries that contain a text, ignoring case. */
export interface SearchedPage extends Page {
  readonly search?: string | undefined;
}

/** Returns a page of a complete list, of the entries whose text contains what is searched for. */
export function pageOf<T>(
  all: readonly T[],
  { page, perPage, search = "" }: SearchedPage,
  textOf: (item: T) => string,
): Listing<T> {
  const wanted = search.toLowerCase();
  const found = all.filter((item) => textOf(item).toLowerCase().includes(wanted));
  return { items: found.slice((page - 1) * perPage, page * perPage), total: found.length };
}
