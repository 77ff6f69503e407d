import type { OutputStream } from "../../domain/deployments/output_stream.ts";
import type { Instance, OutputLine, RunRequest } from "../../ports/services/runtime.ts";
import { healthOf, type Script } from "./script.ts";

export const HOST = "127.0.0.1";
export const NOT_WAITING = { failing: false, nextStartAt: null } as const;

/** A simulated program. */
export interface Running {
  readonly request: RunRequest;
  readonly lines: OutputLine[];
  servers: Bun.Server<undefined>[];
  script: Script;
  instance: Instance;
  /** The id of its container, if that was not started here. */
  readonly adopted?: string;
  /** When other services began to find it, as an increasing number, or `null` if not yet. */
  foundSince: number | null;
}

/** A script that ends by itself. */
export type Ending = Extract<Script, { does: "ends" | "takes_all_memory" }>;

/** An instance before its program was started. */
export function stillInstance(
  { instanceId, deploymentId, projectId, service, runs }: RunRequest,
  ports: Instance["ports"],
): Instance {
  return {
    instanceId,
    deploymentId,
    projectId,
    service,
    status: "starting",
    host: HOST,
    port: ports[0]?.port ?? null,
    ports,
    relayed: false,
    health: null,
    image: runs.kind === "image" ? runs.image : null,
    containerId: null,
    startedAt: new Date(),
    restarts: 0,
    ...NOT_WAITING,
    exit: null,
  };
}

/** How a script ends. */
export function ending(script: Ending): NonNullable<Instance["exit"]> {
  if (script.does === "takes_all_memory") return { code: null, reason: "out_of_memory" };
  return { code: script.code, reason: "exited" };
}

/** An instance as it is now. */
export function shown({ instance, script, request }: Running): Instance {
  return instance.containerId === null ? instance : { ...instance, health: healthOf(script, request) };
}

/** Adds lines to the output of a program. */
export function print({ lines }: Running, messages: readonly string[] = [], stream: OutputStream = "stdout"): void {
  const at = new Date();
  for (const message of messages) lines.push({ seq: lines.length + 1, at, stream, message });
}
