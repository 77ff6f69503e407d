/** An object in a store. */
export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
  readonly modifiedAt: Date;
}

/** A page of a store's objects, ordered by key. */
export interface ObjectPage {
  readonly objects: readonly StoredObject[];
  /** The cursor of the next page; `null` on the last page. A page may be empty without being the last. */
  readonly next: string | null;
}
