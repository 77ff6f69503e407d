import type { ListeningSocket } from "../../../domain/deployments/unreachable.ts";
import type { InstanceSockets } from "../../../ports/services/instance_sockets.ts";
import { listenersInside } from "./container_listening.ts";
import { isUp } from "./container_state.ts";
import type { EngineApi } from "../engine/engine_api.ts";
import { OwnContainers } from "./own_containers.ts";

export interface DockerSocketsOptions {
  readonly engine: EngineApi;
  readonly installation: string;
  /** Where the kernel shows processes; an engine on another machine shows none of its own. Defaults to `/proc`. */
  readonly proc?: string;
}

/** Tells where the programs of a `DockerRuntime` listen, by the network of their containers. */
export class DockerSockets implements InstanceSockets {
  readonly #own: OwnContainers;
  readonly #proc: string;

  constructor({ engine, installation, proc = "/proc" }: DockerSocketsOptions) {
    this.#own = new OwnContainers(engine, installation);
    this.#proc = proc;
  }

  async listening(instanceId: string): Promise<readonly ListeningSocket[] | undefined> {
    // Whoever asks has something to tell already: an engine that does not answer is no further news.
    const record = await this.#own.find(instanceId).catch(() => undefined);
    if (!record || !isUp(record)) return undefined;
    const listeners = await listenersInside(record, this.#proc);
    return listeners?.map(({ address, port }) => ({ address, port }));
  }
}
