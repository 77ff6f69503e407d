import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { LogFrame } from "./log_frames.ts";

/** Something to be read among what a container printed. */
export interface EndingNote {
  /** RFC 3339 with nine digits after the second, by the engine's clock: every server that notes the same ending has the same. */
  readonly at: string;
  readonly text: string;
}

const MAX_BYTES = 65_536;

/** Keeps what servers noted about endings of containers, a file for each instance; old notes give way. */
export class EndingNotes {
  readonly #folder: string;

  /** `folder` is one for all servers that share an engine as one installation; it is created when needed. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  add(instanceId: string, note: EndingNote): void {
    const file = this.#file(instanceId);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_BYTES) this.#halve(instanceId);
    appendFileSync(file, `${JSON.stringify(note)}\n`, { mode: 0o600 });
  }

  /** All notes of an instance, in order, each once. */
  read(instanceId: string): readonly EndingNote[] {
    const notes = new Map(this.#lines(instanceId).map((note) => [note.at, note]));
    return [...notes.values()].sort((a, b) => (a.at < b.at ? -1 : 1));
  }

  forget(instanceId: string): void {
    rmSync(this.#file(instanceId), { force: true });
  }

  /** Forgets what was noted of all but these, unless it is new. */
  sweep(instanceIds: ReadonlySet<string>, olderThanMs: number): void {
    for (const name of this.#names()) {
      const { mtimeMs = Infinity } = statSync(join(this.#folder, name), { throwIfNoEntry: false }) ?? {};
      if (!instanceIds.has(name) && Date.now() - mtimeMs > olderThanMs) this.forget(name);
    }
  }

  #halve(instanceId: string): void {
    const notes = this.read(instanceId);
    const part = `${this.#file(instanceId)}.${process.pid}.part`;
    const kept = notes.slice(Math.ceil(notes.length / 2)).map((note) => `${JSON.stringify(note)}\n`);
    writeFileSync(part, kept.join(""), { mode: 0o600 });
    renameSync(part, this.#file(instanceId));
  }

  #lines(instanceId: string): readonly EndingNote[] {
    try {
      return readFileSync(this.#file(instanceId), "utf8").split("\n").flatMap(noteIn);
    } catch {
      return [];
    }
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.#folder);
    } catch {
      return [];
    }
  }

  #file(instanceId: string): string {
    return join(this.#folder, instanceId);
  }
}

/** What a container printed with the notes about it, in the order of time. */
export async function* withNotes(
  frames: AsyncIterable<readonly LogFrame[]>,
  notes: readonly EndingNote[],
): AsyncGenerator<readonly LogFrame[], void, undefined> {
  const left = notes.map(({ at, text }): LogFrame => ({ stream: "slipway", at, bytes: Buffer.from(`${text}\n`) }));
  for await (const some of frames) {
    const merged: LogFrame[] = [];
    for (const frame of some) {
      while (left[0] && left[0].at < frame.at) merged.push(left.shift()!);
      merged.push(frame);
    }
    yield merged;
  }
  yield left;
}

/** A line that a killed server wrote in part says nothing. */
function noteIn(line: string): readonly EndingNote[] {
  try {
    return [JSON.parse(line) as EndingNote];
  } catch {
    return [];
  }
}

/** A time of the engine as it writes those of printed lines. */
export function engineTime(nanoseconds: number): string {
  const ms = Math.floor(nanoseconds / 1_000_000);
  const rest = `${Math.floor(nanoseconds % 1_000_000)}`.padStart(6, "0");
  return new Date(ms).toISOString().replace("Z", `${rest}Z`);
}
