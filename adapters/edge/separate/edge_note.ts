import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** What an edge in a process of its own is started with. */
export interface EdgeProcessSettings {
  readonly host: string;
  readonly port: number;
  readonly trustedProxies: readonly string[];
}

/** How an edge in a process of its own is reached by the server it belongs to. */
export interface EdgeNote {
  readonly pid: number;
  /** Where visitors reach it. */
  readonly port: number;
  /** Where it takes commands, on loopback. */
  readonly controlPort: number;
  /** What a command has to know. */
  readonly token: string;
  /** What it was started with. */
  readonly settings: EdgeProcessSettings;
  /** Which commands it understands. */
  readonly protocol: number;
}

/** Changes when a command does: a server replaces an edge that speaks another. */
export const PROTOCOL = 1;

/** Reads the note that an edge has left, if there is one. */
export function readNote(file: string): EdgeNote | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as EdgeNote;
  } catch {
    return undefined;
  }
}

/** Leaves a note that nobody else can read, whole or not at all. */
export function writeNote(file: string, note: EdgeNote): void {
  const part = `${file}.${note.pid}.part`;
  writeFileSync(part, JSON.stringify(note), { mode: 0o600 });
  renameSync(part, file);
}

/** Takes a note back, unless another edge has left its own since. */
export function removeNote(file: string, { pid }: Pick<EdgeNote, "pid">): void {
  if (readNote(file)?.pid === pid) rmSync(file, { force: true });
}
