/** Containers that were not started by Slipway, but adopted as services; they are stopped, never removed. */
export interface AdoptedContainers {
  /** Starts an adopted container again that was stopped. Does nothing for one that runs or is gone. */
  resume(instanceId: string): Promise<void>;
  /**
   * Makes an adopted container that another instance has replaced stay stopped, also after a restart of its engine. Does
   * nothing for one that runs or is gone.
   */
  rest(instanceId: string): Promise<void>;
}
