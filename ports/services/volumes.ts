/** Data that outlives instances. */
export interface Volume {
  readonly scope: string;
  readonly name: string;
}

/** A volume with what is in it. */
export interface MeasuredVolume extends Volume {
  /** The sum of its files; `null` when that cannot be told, or not in time. */
  readonly sizeBytes: number | null;
}

/** The volumes that instances of this installation were given, by scope. Volumes of others are never touched. */
export interface Volumes {
  /** Those of a scope. */
  list(scope: string): Promise<readonly Volume[]>;
  /** Those of all these scopes with their sizes, which take the engine a while to find out. */
  measure(scopes: readonly string[]): Promise<readonly MeasuredVolume[]>;
  /** Removes all of a scope, with what is in them; one that something still uses is left, none is no error. */
  remove(scope: string): Promise<void>;
}
