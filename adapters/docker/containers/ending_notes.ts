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

/** A note to show within a container's output. */
export interface EndingNote {
  /**
   * RFC 3339 with nine fractional digits, by the engine's clock: the same on every server that notes the same ending.
   */
  readonly at: string;
  readonly text: string;
}

const MAX_BYTES = 65_536;

/** Stores notes about how containers ended, one file per instance; evicts old notes. */
export class EndingNotes {
  readonly #folder: string;

  /** `folder` is shared by all servers that use an engine as one installation; it is created when needed. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  add(instanceId: string, note: EndingNote): void {
    const file = this.#file(instanceId);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_BYTES) this.#halve(instanceId);
    appendFileSync(file, `${JSON.stringify(note)}\n`, { mode: 0o600 });
  }

  /** Returns all notes of an instance in order of time, without duplicates. */
  read(instanceId: string): readonly EndingNote[] {
    const notes = new Map(this.#lines(instanceId).map((note) => [note.at, note]));
    return [...notes.values()].sort((a, b) => (a.at < b.at ? -1 : 1));
  }

  forget(instanceId: string): void {
    rmSync(this.#file(instanceId), { force: true });
  }

  /** Removes the notes of all other instances, unless they are younger than `olderThanMs`. */
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

/** Merges a container's output with its notes, in order of time. */
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

/** Parses a note; ignores a line that a killed server wrote only in part. */
function noteIn(line: string): readonly EndingNote[] {
  try {
    return [JSON.parse(line) as EndingNote];
  } catch {
    return [];
  }
}

/** Formats a time of the engine like the timestamps of its log lines. */
export function engineTime(nanoseconds: number): string {
  const ms = Math.floor(nanoseconds / 1_000_000);
  const rest = `${Math.floor(nanoseconds % 1_000_000)}`.padStart(6, "0");
  return new Date(ms).toISOString().replace("Z", `${rest}Z`);
}
