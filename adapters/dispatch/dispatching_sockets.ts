import { runnableKindOf } from "../../domain/deployments/instance_id.ts";
import type { ListeningSocket } from "../../domain/deployments/unreachable.ts";
import type { InstanceSockets } from "../../ports/services/instance_sockets.ts";

/** Asks whoever knows the sockets of an instance: ids tell what it was started from. */
export class DispatchingSockets implements InstanceSockets {
  readonly #folders: InstanceSockets;
  readonly #images: InstanceSockets;

  constructor({ folder, image }: { readonly folder: InstanceSockets; readonly image: InstanceSockets }) {
    this.#folders = folder;
    this.#images = image;
  }

  async listening(instanceId: string): Promise<readonly ListeningSocket[] | undefined> {
    return (runnableKindOf(instanceId) === "image" ? this.#images : this.#folders).listening(instanceId);
  }
}
