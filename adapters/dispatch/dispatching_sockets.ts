import { runnableKindOf } from "../../domain/deployments/instance_id.ts";
import type { ListeningSocket } from "../../domain/deployments/unreachable.ts";
import type { InstanceSockets } from "../../ports/services/instance_sockets.ts";

/** Dispatches to the adapter that knows the sockets of an instance; the instance id determines which. */
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
