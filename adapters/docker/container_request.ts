import { foregroundCommand, SIGNAL_ALL } from "../../domain/image/foreground_command.ts";
import type { RunnableImage, RunRequest } from "../../ports/runtime.ts";

/** What a container is made with beside what is asked for. */
export interface ContainerSetting {
  readonly labels: Readonly<Record<string, string>>;
  /** The id of the network it joins. */
  readonly network: string;
  readonly hostPort: number;
  /** Whether the engine brings an init of its own that is to be the first process. */
  readonly init: boolean;
}

/** Where instances listen. */
export const HOST = "127.0.0.1";
/** Started again by the engine whatever it ended with, and after a restart of the engine. */
export const KEPT_RUNNING = "unless-stopped";
/** Not started again by the engine. */
export const LEFT_ALONE = "no";

const PROCESSES = 4_096;
/** Of what the engine grants by default, what no web application needs: raw packets, device files, the kernel's audit log, and rights for others. */
const DROPPED = ["AUDIT_WRITE", "MKNOD", "NET_RAW", "SETFCAP", "SETPCAP"];
const OUTPUT_BOUND = { "max-size": "10m", "max-file": "3" };

/**
 * The engine's words for a container: kept apart, bounded, published on loopback only. Whoever may ask the engine sees its environment there,
 * as the engine keeps it to start it again; nothing of this installation shows it to anybody else.
 */
export function containerRequest(
  request: RunRequest<RunnableImage>,
  setting: ContainerSetting,
): Record<string, unknown> {
  const { runs, environment, memoryBytes, cpus, oneShot, service } = request;
  const inside = `${runs.port}/tcp`;
  return {
    Image: runs.image,
    // An entry point of the image would take the command for its arguments.
    ...(runs.command !== null && { Entrypoint: ["/bin/sh", "-c"], Cmd: [foregroundCommand(runs.command)] }),
    Env: [
      ...(runs.command === null ? [] : [`${SIGNAL_ALL.name}=${SIGNAL_ALL.value}`]),
      ...Array.from(environment, ([name, value]) => `${name}=${value.reveal()}`),
      `PORT=${runs.port}`,
    ],
    Labels: setting.labels,
    ExposedPorts: { [inside]: {} },
    HostConfig: {
      Init: setting.init,
      NetworkMode: setting.network,
      PortBindings: { [inside]: [{ HostIp: HOST, HostPort: `${setting.hostPort}` }] },
      RestartPolicy: { Name: oneShot ? LEFT_ALONE : KEPT_RUNNING },
      CapDrop: DROPPED,
      SecurityOpt: ["no-new-privileges"],
      PidsLimit: PROCESSES,
      // No swap beyond the limit: it would make a program that leaks slow instead of ended.
      ...(memoryBytes !== undefined && { Memory: memoryBytes, MemorySwap: memoryBytes }),
      ...(cpus !== undefined && { NanoCpus: Math.round(cpus * 1e9) }),
      LogConfig: { Type: "json-file", Config: OUTPUT_BOUND },
    },
    NetworkingConfig: { EndpointsConfig: { [setting.network]: { Aliases: [service] } } },
  };
}
