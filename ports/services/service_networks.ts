/**
 * The networks in which the instances of a scope reach each other. A runtime makes and removes them itself; this only
 * does it ahead of time, or when no instance was ever started.
 */
export interface ServiceNetworks {
  /**
   * Makes the network of a scope before its first instance needs it, so that `Runtime.start` does not have to. Does
   * nothing if it exists; concurrent calls make one.
   */
  prepare(scope: string): Promise<void>;
  /** Removes the networks of a scope that has no instance, running or not. Having none is no error. */
  release(scope: string): Promise<void>;
}
