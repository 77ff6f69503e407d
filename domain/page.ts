/** Which part of a list is asked for; `page` counts from 1. */
export interface Page {
  readonly page: number;
  readonly perPage: number;
}

/** One part of a list, with how many there are in all. */
export interface Listing<T> {
  readonly items: readonly T[];
  readonly total: number;
}
