import type { ListeningSocket } from "../../domain/deployments/unreachable.ts";

/** Reports where programs listen, to explain why a health check waits for one that listens elsewhere. */
export interface InstanceSockets {
  /**
   * Returns the TCP sockets on which the instance's program and its children listen now, as seen from inside: those of
   * a container have its internal ports. Returns `undefined` when it does not run or cannot be inspected. Never
   * rejects.
   */
  listening(instanceId: string): Promise<readonly ListeningSocket[] | undefined>;
}
