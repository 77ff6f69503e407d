/** Containers that were not started by Slipway, but adopted as services; they are stopped, never removed. */
export interface AdoptedContainers {
  /**
   * Makes an adopted container that another instance has replaced stay stopped, also after a restart of its engine. Does
   * nothing for one that runs or is gone.
   */
  rest(instanceId: string): Promise<void>;
}
