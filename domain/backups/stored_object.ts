/** An object as a store knows it. */
export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
  readonly modifiedAt: Date;
}

/** A part of the objects of a store, in the order of their keys. */
export interface ObjectPage {
  readonly objects: readonly StoredObject[];
  /** What to ask behind for the next part; `null` when there is none. A part may be empty and yet not the last. */
  readonly next: string | null;
}
