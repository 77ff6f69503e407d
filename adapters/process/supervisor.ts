import { readdirSync, statSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { endingNote } from "../../domain/deployments/ending.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { Log } from "../../ports/system/log.ts";
import { holdFile } from "../shared/file_lock.ts";
import { InstanceFolder, type InstanceRecord, type InstanceState } from "./instance_folder.ts";
import { once } from "./once.ts";
import { hasReader, OutputPump } from "./output_pump.ts";
import { processTable } from "./process_table.ts";
import { isTooLarge, type SupervisionPorts, noteEnding, startInstance, stopInstance } from "./supervised_instance.ts";

const TICK_MS = 200;
const HALF_MADE_MS = 60_000;
const TAKE_UP_MS = 10_000;
const TAKE_UP_LOOK_MS = 20;
const INSTANCE = /^[A-Za-z0-9_-]{1,100}$/;

/** The lock file, in the folder of all instances, that is held while an instance is created. */
export const STARTING = ".starting";

/** Returns whether a string is a valid instance id. */
export function isInstanceId(text: string): boolean {
  return INSTANCE.test(text);
}

/** Returns the instances in a folder. */
export function instanceFolders(folder: string): InstanceFolder[] {
  try {
    return readdirSync(folder)
      .filter(isInstanceId)
      .map((name) => new InstanceFolder(join(folder, name)));
  } catch {
    return [];
  }
}

export interface SupervisorOptions {
  readonly log: Log | undefined;
  readonly onEnding: (instanceId: string) => void;
}

/**
 * Supervises all instances of a folder, unless another process does: restarts those that should run, collects their
 * output.
 */
export class Supervisor {
  readonly #folder: string;
  readonly #ports: SupervisionPorts;
  readonly #log: Log | undefined;
  readonly #onEnding: (instanceId: string) => void;
  readonly #pumps = new Map<string, OutputPump>();
  #lock: Disposable | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = true;

  /** Calls `onEnding` with the id of each instance that exited and will be restarted. */
  constructor(folder: string, ports: SupervisionPorts, { log, onEnding }: SupervisorOptions) {
    this.#folder = folder;
    this.#ports = ports;
    this.#log = log;
    this.#onEnding = onEnding;
  }

  /** Resolves after the first round: all instances that should run then do, or another process supervises them. */
  async start(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o711 });
    this.#stopped = false;
    await this.look();
  }

  /** Stops supervising. The instances keep running. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
    this.#pumps.clear();
  }

  /** Reconciles all instances now, after a round in progress. */
  look(): Promise<void> {
    this.#round = this.#round.then(() => this.#look());
    return this.#round;
  }

  /** Collects an instance's output so far, if this process is the supervisor. */
  async pump(folder: InstanceFolder): Promise<void> {
    if (this.#lock) await this.#pumpFor(folder).pump({ last: false });
  }

  /**
   * Collects the remaining output of an instance that has ended, or waits up to 10 s for the supervising process to do
   * so.
   */
  async takeUpAll(folder: InstanceFolder): Promise<void> {
    for (const until = Date.now() + TAKE_UP_MS; Date.now() < until; await Bun.sleep(TAKE_UP_LOOK_MS)) {
      if (this.#lock) return this.#pumpFor(folder).drain();
      if (hasReader(folder.path)) return;
    }
  }

  async #look(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    try {
      this.#lock ??= await this.#takeOver();
      if (this.#lock) await this.#lookAfterAll();
    } catch (error) {
      this.#log?.write("error", "Could not check the instances", { ...loggedError(error) });
    }
    this.#timer = setTimeout(() => void this.look(), TICK_MS);
    this.#timer.unref();
  }

  /** Becomes the supervisor if there is none, and removes leftovers of killed processes. */
  async #takeOver(): Promise<Disposable | undefined> {
    const lock = holdFile(join(this.#folder, ".supervisor"));
    for (const name of lock ? readdirSync(this.#folder) : []) {
      const path = join(this.#folder, name);
      const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity);
      if (/^\.(trial|removed)-|\.part$/.test(name) && age > HALF_MADE_MS)
        await rm(path, { recursive: true, force: true });
    }
    return lock;
  }

  async #lookAfterAll(): Promise<void> {
    const folders = instanceFolders(this.#folder);
    const paths = new Set(folders.map(({ path }) => path));
    for (const path of this.#pumps.keys()) if (!paths.has(path)) this.#pumps.delete(path);
    // One process table for all instances, because creating it is most of the work of a round.
    const table = once(processTable);
    await Promise.all(
      folders.map((folder) =>
        this.#lookAfter(folder, table).catch((error: unknown) => {
          // Not an error if the instance was removed meanwhile.
          if (folder.state()) this.#log?.write("error", "Could not check an instance", { ...loggedError(error) });
        }),
      ),
    );
  }

  async #lookAfter(folder: InstanceFolder, table: typeof processTable): Promise<void> {
    const state = folder.state();
    const record = folder.record();
    if (!state || !record) return;
    const isUp = folder.isUp();
    if (state.phase !== "removed") await this.#pumpFor(folder).pump({ last: !isUp });
    if (isOver(state, record) || (state.phase === "stopping" && !isUp)) return;
    if (state.phase === "waiting" && Date.now() < state.startAt) return;
    if (state.phase === "up" && isUp && (state.tooLarge || !isTooLarge(folder, record, table))) return;
    await this.#act(folder);
  }

  /** Performs the due action, unless another process holds the instance. */
  async #act(folder: InstanceFolder): Promise<void> {
    using held = folder.tryHold();
    const state = folder.state();
    const record = folder.record();
    if (!held || !state || !record || isOver(state, record)) return;
    const isUp = folder.isUp();
    if (state.phase === "removed") {
      await stopInstance(folder, this.#ports, 0);
      await folder.remove();
    } else if (state.phase === "stopping") {
      // The process that was stopping it was killed. The caller removes it later.
      await stopInstance(folder, this.#ports, 0);
    } else if (state.phase === "ended" || (state.phase === "waiting" && Date.now() >= state.startAt)) {
      await this.#startAgain(folder);
    } else if (state.phase === "up" && !isUp) {
      await this.#noteEnding(folder, state);
    } else if (state.phase === "up" && isTooLarge(folder, record)) {
      await folder.writeState({ ...state, tooLarge: true });
      await stopInstance(folder, this.#ports, 0);
    }
  }

  async #startAgain(folder: InstanceFolder): Promise<void> {
    const state = folder.state()!;
    try {
      await startInstance(folder, state, this.#ports);
    } catch (error) {
      this.#log?.write("error", "Could not start an instance", { ...loggedError(error) });
      await this.#noteEnding(folder, { ...state, startedAt: Date.now() });
    }
  }

  async #noteEnding(folder: InstanceFolder, state: InstanceState): Promise<void> {
    const ended = await noteEnding(folder, state, this.#ports);
    if (!ended) return;
    await this.#pumpFor(folder).note(endingNote(ended.exit, ended.pauseMs));
    this.#onEnding(basename(folder.path));
  }

  #pumpFor({ path }: InstanceFolder): OutputPump {
    let pump = this.#pumps.get(path);
    if (!pump) this.#pumps.set(path, (pump = new OutputPump(path)));
    return pump;
  }
}

/**
 * Returns whether a one-shot has ended. Other `ended` instances are restarted: an earlier version gave up on crash
 * loops.
 */
function isOver({ phase }: InstanceState, { oneShot }: InstanceRecord): boolean {
  return phase === "ended" && oneShot;
}
