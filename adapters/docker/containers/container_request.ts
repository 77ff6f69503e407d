import { foregroundCommand, SIGNAL_ALL } from "../../../domain/image/foreground_command.ts";
import { type ContainerSpec, PLAIN_CONTAINER, type ServiceHealth } from "../../../domain/services/service_spec.ts";
import type { RunnableImage, RunRequest } from "../../../ports/services/runtime.ts";
import type { ImageConfig } from "../engine/images.ts";
import { namesOf, type PublishedPort } from "./labels.ts";

/** Settings of a container in addition to the run request. */
export interface ContainerSetting {
  readonly labels: Readonly<Record<string, string>>;
  /** The id of the network it joins. */
  readonly network: string;
  readonly ports: readonly PublishedPort[];
  /** Whether the engine's init process is PID 1. */
  readonly init: boolean;
  /** In the engine's format. */
  readonly mounts: readonly EngineMount[];
  readonly image: ImageConfig;
}

/** A mount in the engine's format. */
export interface EngineMount {
  readonly Type: "volume" | "bind" | "tmpfs";
  readonly Source?: string;
  readonly Target: string;
  readonly ReadOnly?: boolean;
  readonly TmpfsOptions?: { readonly SizeBytes: number };
}

type Words = Readonly<Record<string, unknown>>;

/** The address that instances listen on. */
export const HOST = "127.0.0.1";
/** Restart policy: the engine restarts a container whatever its exit code, and after a restart of the engine. */
export const KEPT_RUNNING = "unless-stopped";
/** Restart policy: the engine never restarts a container. */
export const LEFT_ALONE = "no";

const PROCESSES = 4_096;
/**
 * Default capabilities of the engine that no web application needs: raw packets, device files, the kernel's audit log,
 * and granting capabilities.
 */
const DROPPED = ["AUDIT_WRITE", "MKNOD", "NET_RAW", "SETFCAP", "SETPCAP"];
const OUTPUT_BOUND = { "max-size": "10m", "max-file": "3" };
/** The engine takes this as no entrypoint, even if the image has one. */
const NO_ENTRYPOINT = [""];

/**
 * Builds the engine's request to create a container: isolated, limited, and published on loopback only. The engine
 * stores the environment in order to restart the container, so anyone with access to the engine can read it; this
 * installation exposes it nowhere else.
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

/**
 * Returns the entrypoint and command: a shell command line, which replaces the image's entrypoint because that would
 * take it as arguments, or the given words unchanged.
 */
function programOf({ command }: RunnableImage, spec: ContainerSpec, image: ImageConfig): Words {
  if (command !== null) return { Entrypoint: ["/bin/sh", "-c"], Cmd: [foregroundCommand(command)] };
  // Without an explicit entrypoint, the engine would replace an empty command with the image's.
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

/** Converts a health check. The engine counts in nanoseconds, and zero means the image's setting. */
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
    // No swap beyond the limit: with swap, a leaking program would become slow instead of being killed.
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

/** Returns the smaller of two optional limits. */
function least(one: number | undefined, other: number | null): number | undefined {
  return other === null ? one : Math.min(one ?? other, other);
}
