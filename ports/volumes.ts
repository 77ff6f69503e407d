/** Data that outlives instances. */
export interface Volume {
  readonly scope: string;
  readonly name: string;
}

/** The volumes that instances of this installation were given, by scope. Volumes of others are never touched. */
export interface Volumes {
  /** Those of a scope. */
  list(scope: string): Promise<readonly Volume[]>;
  /** Removes all of a scope, with what is in them; one that something still uses is left, none is no error. */
  remove(scope: string): Promise<void>;
}
