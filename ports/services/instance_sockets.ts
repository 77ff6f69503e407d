import type { ListeningSocket } from "../../domain/deployments/unreachable.ts";

/** Tells where programs listen, for whoever waits for one that listens somewhere else. */
export interface InstanceSockets {
  /**
   * The TCP sockets on which the program of an instance and its children wait for connections now, as they see them themselves: those of a
   * container with its ports inside. `undefined` when it does not run or cannot be looked into; never rejects.
   */
  listening(instanceId: string): Promise<readonly ListeningSocket[] | undefined>;
}
