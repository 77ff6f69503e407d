import { foregroundCommand, SIGNAL_ALL } from "../../../domain/image/foreground_command.ts";
import { type ContainerSpec, PLAIN_CONTAINER, type ServiceHealth } from "../../../domain/services/service_spec.ts";
import type { RunnableImage, RunRequest } from "../../../ports/services/runtime.ts";
import type { ImageConfig } from "../images/image_config.ts";
import { namesOf, type PublishedPort } from "./labels.ts";

/** What a container is made with beside what is asked for. */
export interface ContainerSetting {
  readonly labels: Readonly<Record<string, string>>;
  /** The id of the network it joins. */
  readonly network: string;
  readonly ports: readonly PublishedPort[];
  /** Whether the engine's own init is to be the first process. */
  readonly init: boolean;
  /** In the engine's words. */
  readonly mounts: readonly EngineMount[];
  readonly image: ImageConfig;
}

/** The engine's words for something that is mounted. */
export interface EngineMount {
  readonly Type: "volume" | "bind" | "tmpfs";
  readonly Source?: string;
  readonly Target: string;
  readonly ReadOnly?: boolean;
  readonly TmpfsOptions?: { readonly SizeBytes: number };
}

type Words = Readonly<Record<string, unknown>>;

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
/** The engine takes this for: none, whatever the image has. */
const NO_ENTRYPOINT = [""];

/**
 * The engine's words for a container: kept apart, bounded, published on loopback only. Whoever may ask the engine sees its environment there,
 * as the engine keeps it to start it again; nothing of this installation shows it to anybody else.
 */
export function containerRequest(request: RunRequest<RunnableImage>, setting: ContainerSetting): Words {
  const { runs, environment, unannounced } = request;
  const { ports, labels } = setting;
  const spec = runs.container ?? PLAIN_CONTAINER;
  return {
    Image: runs.image,
    ...programOf(runs, spec, setting.image),
    Env: [
      ...(runs.command === null ? [] : [`${SIGNAL_ALL.name}=${SIGNAL_ALL.value}`]),
      ...Array.from(environment, ([name, value]) => `${name}=${value.reveal()}`),
    ],
    ...surroundingsOf(spec),
    Labels: labels,
    ExposedPorts: Object.fromEntries(ports.map((port) => [`${port.inside}/tcp`, {}])),
    HostConfig: {
      ...hostConfigOf(request, spec),
      Init: setting.init,
      NetworkMode: setting.network,
      PortBindings: Object.fromEntries(
        ports.map((port) => [`${port.inside}/tcp`, [{ HostIp: HOST, HostPort: `${port.port}` }]]),
      ),
      Mounts: setting.mounts,
    },
    NetworkingConfig: { EndpointsConfig: { [setting.network]: { Aliases: unannounced ? [] : namesOf(labels) } } },
  };
}

/** What is run: one line for a shell, which an entry point of the image would take for its arguments, or words as they are. */
function programOf({ command }: RunnableImage, spec: ContainerSpec, image: ImageConfig): Words {
  if (command !== null) return { Entrypoint: ["/bin/sh", "-c"], Cmd: [foregroundCommand(command)] };
  // Without an entry point of its own, the engine would take no arguments for: those of the image.
  const isCleared = spec.command?.length === 0 && spec.entrypoint === null;
  const entrypoint = isCleared ? (image.Entrypoint ?? []) : spec.entrypoint;
  return {
    ...(entrypoint !== null && { Entrypoint: entrypoint.length === 0 ? NO_ENTRYPOINT : entrypoint }),
    ...(spec.command !== null && { Cmd: spec.command }),
  };
}

function surroundingsOf(spec: ContainerSpec): Words {
  return {
    ...(spec.workingDir !== null && { WorkingDir: spec.workingDir }),
    ...(spec.user !== null && { User: spec.user }),
    ...(spec.hostname !== null && { Hostname: spec.hostname }),
    ...(spec.stopSignal !== null && { StopSignal: spec.stopSignal }),
    ...(spec.stopGraceMs !== null && { StopTimeout: Math.ceil(spec.stopGraceMs / 1_000) }),
    ...(spec.healthcheck !== null && { Healthcheck: healthcheckOf(spec.healthcheck) }),
  };
}

/** The engine counts in nanoseconds, and takes zero for: as the image says. */
function healthcheckOf(health: ServiceHealth | "none"): Words {
  if (health === "none") return { Test: ["NONE"] };
  const { test, intervalMs, timeoutMs, retries, startPeriodMs } = health;
  const words = test === null ? [] : "shell" in test ? ["CMD-SHELL", test.shell] : ["CMD", ...test];
  return {
    Test: words,
    Interval: nanoseconds(intervalMs),
    Timeout: nanoseconds(timeoutMs),
    StartPeriod: nanoseconds(startPeriodMs),
    Retries: retries ?? 0,
  };
}

function nanoseconds(ms: number | null): number {
  return Math.round((ms ?? 0) * 1e6);
}

function hostConfigOf({ oneShot, memoryBytes, cpus }: RunRequest<RunnableImage>, spec: ContainerSpec): Words {
  const { limits } = spec;
  const memory = least(memoryBytes, limits.memoryBytes);
  const processors = least(cpus, limits.cpus);
  return {
    RestartPolicy: { Name: oneShot ? LEFT_ALONE : KEPT_RUNNING },
    CapDrop: [...new Set([...DROPPED, ...spec.dropCapabilities])],
    SecurityOpt: ["no-new-privileges"],
    PidsLimit: least(PROCESSES, limits.processes),
    // No swap beyond the limit: it would make a program that leaks slow instead of ended.
    ...(memory !== undefined && { Memory: memory, MemorySwap: memory }),
    ...(processors !== undefined && { NanoCpus: Math.round(processors * 1e9) }),
    ...(limits.sharedMemoryBytes !== null && { ShmSize: limits.sharedMemoryBytes }),
    ...(limits.openFiles && {
      Ulimits: [{ Name: "nofile", Soft: limits.openFiles.soft, Hard: limits.openFiles.hard }],
    }),
    ReadonlyRootfs: spec.readOnly,
    ExtraHosts: spec.extraHosts,
    LogConfig: { Type: "json-file", Config: OUTPUT_BOUND },
  };
}

/** The smaller of two limits, of which there may be none. */
function least(one: number | undefined, other: number | null): number | undefined {
  return other === null ? one : Math.min(one ?? other, other);
}
