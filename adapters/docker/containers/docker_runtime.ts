import { join } from "node:path";
import { adoptedInstance } from "../../../domain/deployments/instance_id.ts";
import { endingNote } from "../../../domain/deployments/ending.ts";
import { invalid, notFound } from "../../../domain/failure.ts";
import type { AdoptedContainers } from "../../../ports/services/adopted_containers.ts";
import type { InstanceEndings } from "../../../ports/services/instance_endings.ts";
import type {
  Instance,
  InstanceUsage,
  OutputLine,
  OutputQuery,
  RemovalOptions,
  RunnableImage,
  RunRequest,
  Runtime,
} from "../../../ports/services/runtime.ts";
import { EndingHandlers } from "../../shared/ending_handlers.ts";
import { ContainerFiles } from "./container_files.ts";
import { ContainerListening, reachableFrom, type ReachPort } from "./container_listening.ts";
import { containerOutput } from "./container_output.ts";
import { type ContainerRecord, startContainer } from "../engine/containers.ts";
import { startAdopted, stopAdopted } from "./adopted_container.ts";
import { KEPT_RUNNING, LEFT_ALONE } from "./container_request.ts";
import { ContainerStart } from "./container_start.ts";
import {
  endingOf,
  instanceOf,
  isGivenUp,
  isNotStarted,
  isOneShot,
  isStartDue,
  isSteady,
  isUp,
  pauseBeforeStart,
} from "./container_state.ts";
import { ContainerUsage } from "./container_usage.ts";
import { ContainerWatcher, type ReportedEnding } from "./container_watcher.ts";
import { NetworkLeaveQueue } from "./network_leave_queue.ts";
import type { DockerRuntimeOptions } from "./docker_runtime_options.ts";
import { DockerVolumes } from "./docker_volumes.ts";
import { EndingNotes, engineTime } from "./ending_notes.ts";
import type { EngineApi } from "../engine/engine_api.ts";
import { LABEL, publishedPorts, scopeOf } from "./labels.ts";
import { noteRestarts } from "./note_restarts.ts";
import { OwnContainers } from "./own_containers.ts";
import { isRefusal, refused, ignoreRefusal } from "../engine/refusals.ts";
import { setRestartPolicy } from "./restart_policy.ts";
import { ScopeNames } from "../networks/scope_names.ts";
import { ScopeNetworks } from "../networks/scope_networks.ts";
import { ContainerStops } from "./container_stops.ts";
import { InstanceTasks } from "./instance_tasks.ts";
import { StartingMarks } from "./starting_marks.ts";

type Grace = Pick<RemovalOptions, "graceMs">;

const INSTANCE = /^[A-Za-z0-9_-]{1,200}$/;
const AT_ONCE = 32;
const LEFT_AFTER_MS = 600_000;

/**
 * Runs images as containers of a Docker Engine. The engine keeps all state of the containers and restarts those that
 * end, so any number of servers may come and go.
 */
export class DockerRuntime implements Runtime<RunnableImage>, InstanceEndings, AdoptedContainers {
  readonly #engine: EngineApi;
  readonly #starting: StartingMarks;
  readonly #notes: EndingNotes;
  readonly #endings = new EndingHandlers();
  readonly #own: OwnContainers;
  readonly #networks: ScopeNetworks;
  readonly #names: ScopeNames;
  readonly #departures = new NetworkLeaveQueue();
  readonly #listening: ContainerListening;
  readonly #reach: ReachPort | undefined;
  readonly #files: ContainerFiles;
  readonly #start: ContainerStart;
  readonly #usage: ContainerUsage;
  readonly #watcher: ContainerWatcher;
  readonly #leftAfterMs: number;
  readonly #watchOnStart: boolean;
  #supervised: Promise<void> | undefined;
  readonly #tasks = new InstanceTasks();
  readonly #stops: ContainerStops;

  constructor(options: DockerRuntimeOptions) {
    const {
      engine,
      installation,
      folder,
      log,
      labels = {},
      watchOnStart = false,
      leftAfterMs = LEFT_AFTER_MS,
      reach,
    } = options;
    this.#reach = reach;
    this.#listening = new ContainerListening(reach);
    this.#engine = engine;
    this.#leftAfterMs = leftAfterMs;
    this.#watchOnStart = watchOnStart;
    this.#starting = new StartingMarks(join(folder, "starting"));
    this.#notes = new EndingNotes(join(folder, "endings"));
    this.#own = new OwnContainers(engine, installation);
    this.#networks = new ScopeNetworks({ engine, own: this.#own, labels, departures: this.#departures });
    this.#names = new ScopeNames(engine, this.#own, this.#networks);
    const volumes = new DockerVolumes({ engine, installation, labels });
    const [own, networks, names] = [this.#own, this.#networks, this.#names];
    const files = (this.#files = new ContainerFiles({ engine, own, volumes, labels }));
    this.#start = new ContainerStart({
      engine,
      own,
      networks,
      names,
      volumes,
      files,
      labels,
      isDistant: reach !== undefined,
    });
    this.#usage = new ContainerUsage(engine);
    this.#stops = new ContainerStops(engine, this.#departures);
    const watched = {
      ended: (id: string, ending: ReportedEnding) => this.#ended(id, ending),
      look: (id: string) => this.#look(id),
      lookAtAll: () => this.#lookAtAll(),
    };
    this.#watcher = new ContainerWatcher(engine, this.#own, watched, log);
  }

  /**
   * Starts supervising all instances, alongside other servers. Resolves once all were reconciled, or no engine
   * responds.
   */
  supervise(): Promise<void> {
    return (this.#supervised ??= this.#watcher.start());
  }

  onEnding(handler: (instanceId: string) => void): () => void {
    return this.#endings.add(handler);
  }

  /** Stops supervising; the instances keep running. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watcher.stop();
  }

  async start(request: RunRequest<RunnableImage>): Promise<Instance> {
    if (!INSTANCE.test(request.instanceId)) {
      throw invalid("invalid_instance_id", "Cannot start this: use letters, digits, _ and - in its id");
    }
    if (this.#watchOnStart) void this.supervise();
    const adopted = await this.#adopted(request.instanceId).catch(refused("inspect the instance"));
    if (adopted) return this.#described(await startAdopted(this.#engine, adopted).catch(refused("start this")));
    using _ = await this.#starting.mark(request.instanceId);
    const id = await this.#start.start(request);
    // Whether it listens is not worth waiting for: at this moment hardly any program does.
    return this.#described(await this.#own.inspect(id).catch(refused("inspect the instance")), { isNew: true });
  }

  async find(instanceId: string): Promise<Instance | undefined> {
    const record = await this.#own.find(instanceId).catch(refused("inspect the instance"));
    return record && this.#described(record);
  }

  async list(): Promise<readonly Instance[]> {
    const listed = await this.#own.list().catch(refused("list the instances"));
    const instances: Instance[] = [];
    for (let at = 0; at < listed.length; at += AT_ONCE) {
      const some = await Promise.all(listed.slice(at, at + AT_ONCE).map(({ Id }) => this.#instance(Id)));
      instances.push(...some.filter((instance) => instance !== undefined));
    }
    return instances;
  }

  /** Rounds the grace period up to whole seconds, the engine's unit. Keeps the volumes of the scope. */
  async remove(instanceId: string, { graceMs, beforeForgetting }: RemovalOptions): Promise<void> {
    await this.#tasks.run(instanceId, "remove this", async () => {
      for (let record; (record = await this.#own.find(instanceId));) {
        if (this.#own.isAdopted(record))
          return stopAdopted(record, () => this.#stops.run(record!, "stop", graceMs), beforeForgetting);
        const { Id } = record;
        const scope = scopeOf(record.Config.Labels);
        // A container that cannot be stopped, for whatever reason, is removed by force.
        await this.#stops.run(record, "stop", graceMs).catch(ignoreRefusal);
        await beforeForgetting?.();
        await this.#departures.run(scope, () => this.#own.remove(Id));
        await this.#networks.release(scope);
        await this.#names.tidy(scope);
      }
      await this.#files.forget(instanceId);
      this.#notes.forget(instanceId);
    });
  }

  async restart(instanceId: string, { graceMs }: Grace): Promise<Instance> {
    return this.#tasks.run(instanceId, "restart this", async () => {
      const record = await this.#own.find(instanceId);
      if (!record) throw notFound("instance");
      if (this.#own.isAdopted(record)) {
        await this.#stops.run(record, "restart", graceMs);
        return this.#described(await this.#own.find(instanceId));
      }
      const { restarts } = await this.#described(record);
      if (!isOneShot(record)) await setRestartPolicy(this.#engine, record, KEPT_RUNNING);
      // The engine's restart count begins anew from here. Renaming works best while nothing runs, but stopping the
      // container first would leave it stopped if this server died.
      const rests = record.State.Status === "exited";
      if (rests) await noteRestarts(this.#engine, this.#own, record, restarts + 1);
      await this.#stops.run(record, "restart", graceMs);
      if (!rests) await noteRestarts(this.#engine, this.#own, record, restarts + 1);
      return this.#described(await this.#own.inspect(record.Id));
    });
  }

  async introduce(instanceId: string): Promise<void> {
    await this.#tasks.run(instanceId, "introduce this", async () => {
      const record = await this.#own.find(instanceId);
      if (!record) throw notFound("instance");
      await this.#names.introduce(record);
    });
  }

  async usage(instanceId: string): Promise<InstanceUsage | undefined> {
    const measured = async () => {
      const record = await this.#own.find(instanceId);
      return record && this.#usage.measure(record);
    };
    return measured().catch(refused("measure this"));
  }

  async output(instanceId: string, wanted: OutputQuery): Promise<readonly OutputLine[]> {
    const read = async () => {
      const record = await this.#own.find(instanceId);
      if (!record) return [];
      return containerOutput(this.#engine, record, { ...wanted, notes: this.#notes.read(instanceId) });
    };
    return read().catch((error: unknown) => {
      // It was removed while its output was read.
      if (isRefusal(error, 404) || isRefusal(error, 409)) return [];
      return refused("read the output of the instance")(error);
    });
  }

  async resume(instanceId: string): Promise<void> {
    const record = await this.#adopted(instanceId).catch(refused("inspect the instance"));
    if (record) await startAdopted(this.#engine, record).catch(refused("start this"));
  }

  async rest(instanceId: string): Promise<void> {
    const record = await this.#adopted(instanceId).catch(refused("inspect the instance"));
    if (record && !isUp(record)) await setRestartPolicy(this.#engine, record, LEFT_ALONE);
  }

  async #adopted(instanceId: string): Promise<ContainerRecord | undefined> {
    const record = adoptedInstance(instanceId) && (await this.#own.find(instanceId));
    return record && this.#own.isAdopted(record) ? record : undefined;
  }

  async #instance(containerId: string): Promise<Instance | undefined> {
    const record = await this.#own.inspect(containerId).catch(refused("inspect the instance"));
    return record && this.#described(record);
  }

  async #described(record: ContainerRecord | undefined, { isNew = false } = {}): Promise<Instance> {
    if (!record) throw notFound("instance");
    const now = this.#engine.now();
    const isLooked = isUp(record) && !isSteady(record, now) && (!isNew || publishedPorts(record).length === 0);
    const listens = isLooked && (await this.#listening.listens(record));
    const beingStarted = isNotStarted(record) && this.#starting.isMarked(record.Config.Labels[LABEL.instance]!);
    const restartsBefore = this.#own.restartsBefore(record);
    return reachableFrom(this.#reach, instanceOf(record, { now, listens, beingStarted, restartsBefore }));
  }

  /** Records and reports the end of a program that the engine restarts. */
  async #ended(instanceId: string, { at, exitCode }: ReportedEnding): Promise<void> {
    const record = await this.#own.find(instanceId);
    if (!record || isOneShot(record)) return;
    const pauseMs = pauseBeforeStart(record);
    // A container that was stopped or restarted on request has not ended by itself.
    if (pauseMs === null && !(isUp(record) && record.RestartCount > 0)) return;
    this.#notes.add(instanceId, { at: engineTime(at), text: endingNote(endingOf(record, exitCode), pauseMs) });
    this.#endings.notify(instanceId);
  }

  /** Starts containers that should run: the engine could not start them, or an earlier version gave up on them. */
  async #look(instanceId: string): Promise<void> {
    const record = await this.#own.find(instanceId);
    if (!record || !(isStartDue(record) || isGivenUp(record))) return;
    await setRestartPolicy(this.#engine, record, KEPT_RUNNING);
    await startContainer(this.#engine, record.Id);
  }

  async #lookAtAll(): Promise<void> {
    const ids = (await this.#own.list()).map(({ Labels }) => Labels[LABEL.instance]!);
    for (const id of ids) await this.#look(id).catch(ignoreRefusal);
    this.#notes.sweep(new Set(ids), this.#leftAfterMs);
    for (const left of [this.#names, this.#networks, this.#files]) {
      await left.sweep(this.#leftAfterMs).catch(ignoreRefusal);
    }
  }
}
