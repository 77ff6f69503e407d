import { closeSync, constants, openSync, readFileSync, statSync, unlinkSync } from "node:fs";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Instance } from "../../ports/services/runtime.ts";
import { holdFile, tryLock, waitForFile } from "../shared/file_lock.ts";
import { ifExists } from "../shared/error_code.ts";

/** The definition that an instance was started with. The environment is encrypted. */
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

/** The state of an instance. Times are in milliseconds. */
export interface InstanceState {
  /**
   * A `stopping` instance does not restart automatically, and stays until it is restarted or removed. A `removed` one
   * is gone for all callers.
   */
  readonly phase: "up" | "waiting" | "ended" | "stopping" | "removed";
  readonly startedAt: number;
  /** When a waiting instance is due to start. */
  readonly startAt: number;
  /** How many levels below its launcher the program begins. */
  readonly depth: number;
  readonly restarts: number;
  readonly endings: readonly number[];
  readonly exit: Instance["exit"];
  /** Whether it is being killed for exceeding its memory limit. */
  readonly tooLarge: boolean;
}

/** The launcher's notes about a run. */
export interface RunNote {
  readonly pid: number | undefined;
  readonly code: number | undefined;
  readonly at: number;
}

/** The folder of one instance: its record, its state, and whether it runs. */
export class InstanceFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Creates the folder atomically: it never exists without record and state. */
  async create(record: InstanceRecord, state: InstanceState): Promise<void> {
    const part = `${this.path}.part`;
    await rm(part, { recursive: true, force: true });
    await mkdir(part);
    // Without a sandbox, programs have to traverse the folder. Its files are private.
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

  /** Replaces the record atomically. The caller must hold the lock. */
  async writeRecord(record: InstanceRecord): Promise<void> {
    await this.#replace("record.json", JSON.stringify(record));
  }

  /** Replaces the state atomically. The caller must hold the lock. */
  async writeState(state: InstanceState): Promise<void> {
    await this.#replace("state.json", JSON.stringify(state));
  }

  async #replace(name: string, text: string): Promise<void> {
    const part = join(this.path, `${name}.part`);
    await writeFile(part, text, { mode: 0o600 });
    await rename(part, join(this.path, name));
  }

  /** Waits for the exclusive lock of the instance. Returns `undefined` when the instance is gone. */
  async hold(): Promise<Disposable | undefined> {
    return waitForFile(join(this.path, "lock"));
  }

  /** Like `hold`, but without waiting: returns `undefined` also when the lock is taken. */
  tryHold(): Disposable | undefined {
    return holdFile(join(this.path, "lock"));
  }

  /**
   * Begins a run: creates a fresh locked file for the launcher to inherit. The lock lasts as long as the launcher
   * lives.
   */
  newRun(): number {
    const file = join(this.path, "run");
    ifExists(() => unlinkSync(file));
    const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    // Another process may hold a shared lock for a moment, in `isUp`.
    while (!tryLock(descriptor, "exclusive")) Bun.sleepSync(1);
    return descriptor;
  }

  /** Returns the launcher's pid while it is alive. A pid alone is never trusted: that very process holds the lock. */
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

  /** Removes the folder atomically for other processes, which may be writing to it. */
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
  return ifExists(() => readFileSync(file, "utf8"));
}

function opened(file: string): number | undefined {
  return ifExists(() => openSync(file, constants.O_RDONLY));
}
