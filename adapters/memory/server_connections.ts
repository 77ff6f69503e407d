import { Failure } from "../../domain/failure.ts";
import type { RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import type { ServerConnection, ServerConnections, UnreadableFile } from "../../ports/servers/server_connections.ts";
import { memoryEngineAddress } from "./engine_inventories.ts";
import type { MemoryMachine, MemoryRemoteHosts } from "./remote_hosts.ts";

/** Connects to the engines of simulated machines. */
export class MemoryServerConnections implements ServerConnections {
  readonly #hosts: MemoryRemoteHosts;

  constructor(hosts: MemoryRemoteHosts) {
    this.#hosts = hosts;
  }

  async open(
    target: RemoteTarget,
    options: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
  ): Promise<ServerConnection> {
    const session = await this.#hosts.connect(target, options);
    const engine = engineFor(target, this.#hosts.machineAt(target));
    if (typeof engine === "string") {
      await session[Symbol.asyncDispose]();
      throw new Failure("remote_failed", `engine_${engine}`, `Cannot use the containers of ${target.host}: ${engine}.`);
    }
    return {
      hostKey: session.hostKey,
      engineAddress: memoryEngineAddress(target),
      failure: undefined,
      readFile: async (path, { maxBytes, signal }) => {
        signal?.throwIfAborted();
        const machine = this.#hosts.machineAt(target);
        if (!machine)
          throw new Failure("remote_failed", "unreachable", `Cannot read files of ${target.host}: it is gone.`);
        return content(machine, path, maxBytes);
      },
      [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
    };
  }
}

/** What a user finds of the engine of a machine. */
function engineFor({ user }: RemoteTarget, machine: MemoryMachine | undefined): NonNullable<MemoryMachine["engine"]> {
  return machine?.forbidden?.includes(user) ? "forbidden" : (machine?.engine ?? "missing");
}

function content(machine: MemoryMachine, path: string, maxBytes: number): Uint8Array | UnreadableFile {
  const files = machine.files ?? new Map<string, string | null>();
  const text = files.get(path);
  if (text === null) return "forbidden";
  if (text === undefined) return files.keys().some((file) => file.startsWith(`${path}/`)) ? "no_file" : "absent";
  const bytes = new TextEncoder().encode(text);
  return bytes.length > maxBytes ? "too_large" : bytes;
}
