import type { ListeningSocket } from "../../../domain/deployments/unreachable.ts";
import type { InstanceSockets } from "../../../ports/services/instance_sockets.ts";
import { listenersInside } from "./container_listening.ts";
import { isUp } from "./container_state.ts";
import type { EngineApi } from "../engine/engine_api.ts";
import { OwnContainers } from "./own_containers.ts";

export interface DockerSocketsOptions {
  readonly engine: EngineApi;
  readonly installation: string;
  /** The procfs mount; it shows no processes of an engine on another machine. Defaults to `/proc`. */
  readonly proc?: string;
}

/** Finds the listening sockets of a `DockerRuntime`'s programs in the network namespaces of their containers. */
export class DockerSockets implements InstanceSockets {
  readonly #own: OwnContainers;
  readonly #proc: string;

  constructor({ engine, installation, proc = "/proc" }: DockerSocketsOptions) {
    this.#own = new OwnContainers(engine, installation);
    this.#proc = proc;
  }

  async listening(instanceId: string): Promise<readonly ListeningSocket[] | undefined> {
    // The caller already has a failure to report, to which an engine that does not respond adds nothing.
    const record = await this.#own.find(instanceId).catch(() => undefined);
    if (!record || !isUp(record)) return undefined;
    const listeners = await listenersInside(record, this.#proc);
    return listeners?.map(({ address, port }) => ({ address, port }));
  }
}
