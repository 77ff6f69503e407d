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
