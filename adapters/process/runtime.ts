import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { loggedError } from "../../domain/logged_error.ts";
import { conflict, type Failure, invalid, notFound } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { InstanceEndings } from "../../ports/services/instance_endings.ts";
import type { Log } from "../../ports/system/log.ts";
import type {
  Instance,
  InstanceUsage,
  OutputLine,
  OutputQuery,
  RemovalOptions,
  RunnableFolder,
  RunRequest,
  Runtime,
} from "../../ports/services/runtime.ts";
import type { FindSystemUser } from "../../ports/servers/system_user.ts";
import type { Vault } from "../../ports/system/vault.ts";
import { sandboxChooser } from "./choose_sandbox.ts";
import { EndingHandlers } from "../shared/ending_handlers.ts";
import { waitForFile } from "../shared/file_lock.ts";
import { freePort, PORT_RANGES } from "../shared/free_port.ts";
import { InstanceFolder, type InstanceRecord, type InstanceState } from "./instance_folder.ts";
import { OutputStore } from "./output_store.ts";
import type { SandboxKind } from "./sandbox.ts";
import {
  describe,
  environmentPlace,
  type SupervisionPorts,
  startInstance,
  stopInstance,
} from "./supervised_instance.ts";
import { instanceFolders, isInstanceId, STARTING, Supervisor } from "./supervisor.ts";
import { unavailable } from "./unavailable.ts";
import { UsageMeter } from "./usage_meter.ts";

/** Options of the process runtime. */
export interface ProcessRuntimeOptions {
  /** The `instances` folder in the data folder. The data folder is hidden from programs. */
  readonly folder: string;
  /** The user that programs run as when the server is root. */
  readonly user: FindSystemUser;
  /** Encrypts environments, which are stored so that programs can be restarted. */
  readonly vault: Vault;
  readonly log?: Log;
  /** Sandboxes to try, best first. Defaults to all. */
  readonly sandboxes?: readonly SandboxKind[];
}

/** Limits one read, because a longer one would block the event loop. */
const PAGE_CHARACTERS = 8 * 1_024 * 1_024;

const NEW: Omit<InstanceState, "startedAt" | "startAt"> = {
  phase: "waiting",
  depth: 1,
  restarts: 0,
  endings: [],
  exit: null,
  tooLarge: false,
};

/** Runs programs as processes of this machine, each in its own session and, where possible, its own sandbox. */
export class ProcessRuntime implements Runtime<RunnableFolder>, InstanceEndings {
  readonly #folder: string;
  readonly #ports: SupervisionPorts;
  readonly #log: Log | undefined;
  readonly #supervisor: Supervisor;
  readonly #meter = new UsageMeter();
  readonly #endings = new EndingHandlers();

  constructor({ folder, user, vault, log, sandboxes }: ProcessRuntimeOptions) {
    this.#folder = folder;
    this.#ports = {
      vault,
      confinement: sandboxChooser({ folder, user, ...(sandboxes && { kinds: sandboxes }) }),
      onExit: () => void this.#supervisor.look(),
    };
    this.#log = log;
    this.#supervisor = new Supervisor(folder, this.#ports, { log, onEnding: (id) => this.#endings.notify(id) });
  }

  /**
   * Starts supervising all instances, unless another process does. Resolves once the instances that should run were
   * restarted.
   */
  async supervise(): Promise<void> {
    const confinement = await this.#ports.confinement().catch((error: unknown) => {
      // Everything else works without a sandbox. Starting an instance throws the same error to its caller.
      this.#log?.write("error", "Programs cannot be run", { ...loggedError(error) });
    });
    if (confinement?.sandbox.kind === "plain") {
      this.#log?.write("warn", "Programs run without a sandbox and may read each other's files; install bubblewrap");
    }
    await this.#supervisor.start();
  }

  onEnding(handler: (instanceId: string) => void): () => void {
    return this.#endings.add(handler);
  }

  /** Stops supervising. The instances keep running, and the next process finds them. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor.stop();
  }

  async start(request: RunRequest<RunnableFolder>): Promise<Instance> {
    const folder = this.#instance(request.instanceId);
    if (!folder) throw invalid("invalid_instance_id", "Cannot start this: use letters, digits, _ and - in its id");
    await this.#ports.confinement();
    await this.#create(folder, request);
    using held = await folder.hold();
    const state = folder.state();
    if (!held || !state || state.phase === "stopping" || state.phase === "removed") throw notFound("instance");
    try {
      if (state.phase === "waiting") await startInstance(folder, state, this.#ports);
    } catch (error) {
      await folder.remove();
      throw error;
    }
    return describe(folder.record()!, folder.state()!, folder);
  }

  async find(instanceId: string): Promise<Instance | undefined> {
    const folder = this.#instance(instanceId);
    return folder && described(folder);
  }

  async list(): Promise<readonly Instance[]> {
    return instanceFolders(this.#folder)
      .map(described)
      .filter((instance) => instance !== undefined);
  }

  async remove(instanceId: string, { graceMs, beforeForgetting }: RemovalOptions): Promise<void> {
    const folder = this.#instance(instanceId);
    using held = await folder?.hold();
    const state = folder?.state();
    if (!folder || !held || !state) return;
    // From here on it is not restarted, even if this process is killed.
    const exit = { code: null, reason: "stopped" } as const;
    if (state.phase !== "removed") await folder.writeState({ ...state, phase: "stopping", exit });
    await stopInstance(folder, this.#ports, graceMs);
    if (beforeForgetting && state.phase !== "removed") {
      await this.#supervisor.takeUpAll(folder);
      await beforeForgetting();
    }
    await folder.writeState({ ...state, phase: "removed", exit });
    await folder.remove();
    this.#meter.forget(instanceId);
  }

  async restart(instanceId: string, { graceMs }: { readonly graceMs: number }): Promise<Instance> {
    const folder = this.#instance(instanceId);
    using held = await folder?.hold();
    const state = folder?.state();
    if (!folder || !held || !state || state.phase === "removed") throw notFound("instance");
    const anew = {
      ...state,
      phase: "waiting",
      startAt: Date.now(),
      endings: [],
      restarts: state.restarts + 1,
    } as const;
    await folder.writeState(anew);
    await stopInstance(folder, this.#ports, graceMs);
    await startInstance(folder, anew, this.#ports);
    return describe(folder.record()!, folder.state()!, folder);
  }

  /** A no-op: processes of one machine have no host names, so callers get each other's addresses instead. */
  async introduce(instanceId: string): Promise<void> {
    if (!(await this.find(instanceId))) throw notFound("instance");
  }

  async usage(instanceId: string): Promise<InstanceUsage | undefined> {
    const folder = this.#instance(instanceId);
    const record = folder?.record();
    if (!folder || !record) return undefined;
    const launcher = folder.launcher();
    const used = launcher === undefined ? undefined : await this.#meter.measure(instanceId, launcher);
    return {
      cpuPercent: used?.cpuPercent ?? 0,
      memoryBytes: used?.memoryBytes ?? 0,
      memoryLimitBytes: record.memoryBytes,
      networkRxBytes: null,
      networkTxBytes: null,
    };
  }

  async output(instanceId: string, wanted: OutputQuery): Promise<readonly OutputLine[]> {
    const folder = this.#instance(instanceId);
    if (!folder || !existsSync(folder.path)) return [];
    await this.#supervisor.pump(folder);
    return new OutputStore(folder.path).read(wanted, PAGE_CHARACTERS);
  }

  #instance(instanceId: string): InstanceFolder | undefined {
    return isInstanceId(instanceId) ? new InstanceFolder(join(this.#folder, instanceId)) : undefined;
  }

  async #create(folder: InstanceFolder, request: RunRequest<RunnableFolder>): Promise<void> {
    const { instanceId, deploymentId, projectId, service, runs } = request;
    const values = Array.from(request.environment, ([name, value]) => [name, value.reveal()]);
    await mkdir(this.#folder, { recursive: true, mode: 0o711 });
    // Serialized across processes, so that no two instances get the same port and key rotation misses none.
    using alone = await waitForFile(join(this.#folder, STARTING));
    if (!alone || existsSync(folder.path)) {
      throw conflict("instance_exists", "Cannot start this: an instance with that ID exists; remove it first");
    }
    const sealed = await this.#ports.vault.seal(new Secret(JSON.stringify(values)), environmentPlace(instanceId));
    const others = instanceFolders(this.#folder).map((other) => other.record()?.port);
    const port = freePort(PORT_RANGES.process, { taken: new Set(others.filter((each) => each !== undefined)) });
    if (port === undefined) throw noFreePort();
    const record: InstanceRecord = {
      instanceId,
      deploymentId,
      projectId,
      service,
      folder: runs.folder,
      workingFolder: runs.workingFolder,
      command: runs.command,
      environment: sealed,
      memoryBytes: request.memoryBytes ?? null,
      oneShot: request.oneShot ?? false,
      port,
    };
    // Due a little later for the supervisor, which starts it only if this process is killed before doing so.
    await folder.create(record, { ...NEW, startedAt: Date.now(), startAt: Date.now() + 5_000 });
  }
}

function noFreePort(): Failure {
  return unavailable("no_free_port", "Cannot start this: found no free port on 127.0.0.1; remove releases that run");
}

function described(folder: InstanceFolder): Instance | undefined {
  const record = folder.record();
  const state = folder.state();
  return record && state && state.phase !== "removed" ? describe(record, state, folder) : undefined;
}
