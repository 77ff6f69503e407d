import { closeSync, constants, openSync, readFileSync, statSync, unlinkSync } from "node:fs";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Instance } from "../../ports/services/runtime.ts";
import { holdFile, tryLock, waitForFile } from "../shared/file_lock.ts";

/** What an instance was started with; the environment is sealed. */
export interface InstanceRecord {
  readonly instanceId: string;
  readonly deploymentId: string;
  readonly projectId: string;
  readonly service: string;
  readonly folder: string;
  readonly workingFolder: string;
  readonly command: string;
  readonly environment: string;
  readonly memoryBytes: number | null;
  readonly oneShot: boolean;
  readonly port: number;
}

/** How an instance stands; times are milliseconds. */
export interface InstanceState {
  /** One in `stopping` is not started by itself again, and stays until it is restarted or removed; one in `removed` is gone for everybody. */
  readonly phase: "up" | "waiting" | "ended" | "stopping" | "removed";
  readonly startedAt: number;
  /** When a waiting one is due. */
  readonly startAt: number;
  /** How far below its launcher its program begins. */
  readonly depth: number;
  readonly restarts: number;
  readonly endings: readonly number[];
  readonly exit: Instance["exit"];
  /** Whether it is being killed for the memory it took. */
  readonly tooLarge: boolean;
}

/** What the launcher of a run has noted. */
export interface RunNote {
  readonly pid: number | undefined;
  readonly code: number | undefined;
  readonly at: number;
}

/** The folder of one instance: what it was started with, how it stands, and whether it runs. */
export class InstanceFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Makes the folder in one step: there is never one without record and state. */
  async create(record: InstanceRecord, state: InstanceState): Promise<void> {
    const part = `${this.path}.part`;
    await rm(part, { recursive: true, force: true });
    await mkdir(part);
    // To be passed through where there is no sandbox; what is in it is closed.
    await chmod(part, 0o711);
    await writeFile(join(part, "record.json"), JSON.stringify(record), { mode: 0o600 });
    await writeFile(join(part, "state.json"), JSON.stringify(state), { mode: 0o600 });
    await rename(part, this.path);
  }

  record(): InstanceRecord | undefined {
    return readJson<InstanceRecord>(join(this.path, "record.json"));
  }

  state(): InstanceState | undefined {
    return readJson<InstanceState>(join(this.path, "state.json"));
  }

  /** Replaces the record in one step; only who holds the folder may. */
  async writeRecord(record: InstanceRecord): Promise<void> {
    await this.#replace("record.json", JSON.stringify(record));
  }

  /** Replaces the state in one step; only who holds the folder may. */
  async writeState(state: InstanceState): Promise<void> {
    await this.#replace("state.json", JSON.stringify(state));
  }

  async #replace(name: string, text: string): Promise<void> {
    const part = join(this.path, `${name}.part`);
    await writeFile(part, text, { mode: 0o600 });
    await rename(part, join(this.path, name));
  }

  /** Holds the instance alone, after whoever does; `undefined` when it is gone. */
  async hold(): Promise<Disposable | undefined> {
    return waitForFile(join(this.path, "lock"));
  }

  /** The same without waiting; `undefined` also when another holds it. */
  tryHold(): Disposable | undefined {
    return holdFile(join(this.path, "lock"));
  }

  /** Begins a run: a fresh file, locked, for the launcher to inherit. As long as the launcher lives, the lock does. */
  newRun(): number {
    const file = join(this.path, "run");
    unlessMissing(() => unlinkSync(file));
    const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    // Somebody may just be asking whether it is locked.
    while (!tryLock(descriptor, "exclusive")) Bun.sleepSync(1);
    return descriptor;
  }

  /** The launcher's id while it lives. No pid is trusted by itself: the lock is held by that very process. */
  launcher(): number | undefined {
    return this.isUp() ? this.note().pid : undefined;
  }

  isUp(): boolean {
    const descriptor = opened(join(this.path, "run"));
    if (descriptor === undefined) return false;
    try {
      return !tryLock(descriptor, "shared");
    } finally {
      closeSync(descriptor);
    }
  }

  note(): RunNote {
    const file = join(this.path, "run");
    const [pid, code] = (readText(file) ?? "").split("\n");
    const at = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return { pid: pid ? Number(pid) : undefined, code: code ? Number(code) : undefined, at };
  }

  /** Removes the folder in one step for everybody else, who may just be writing to it. */
  async remove(): Promise<void> {
    const gone = join(dirname(this.path), `.removed-${crypto.randomUUID()}`);
    await rename(this.path, gone);
    await rm(gone, { recursive: true, force: true });
  }
}

function readJson<T>(file: string): T | undefined {
  const text = readText(file);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

function readText(file: string): string | undefined {
  return unlessMissing(() => readFileSync(file, "utf8"));
}

function opened(file: string): number | undefined {
  return unlessMissing(() => openSync(file, constants.O_RDONLY));
}

function unlessMissing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
