/** Data that outlives instances. */
export interface Volume {
  readonly scope: string;
  readonly name: string;
}

/** A volume with its size. */
export interface MeasuredVolume extends Volume {
  /** The sum of its file sizes; `null` when it cannot be determined, or not in time. */
  readonly sizeBytes: number | null;
}

/** The volumes that were created for instances of this installation, by scope. Never touches other volumes. */
export interface Volumes {
  /** Lists the volumes of a scope. */
  list(scope: string): Promise<readonly Volume[]>;
  /** Lists the volumes of all these scopes with their sizes, which the engine takes a while to compute. */
  measure(scopes: readonly string[]): Promise<readonly MeasuredVolume[]>;
  /** Removes all volumes of a scope with their data. Leaves volumes that are still in use; having none is no error. */
  remove(scope: string): Promise<void>;
}
