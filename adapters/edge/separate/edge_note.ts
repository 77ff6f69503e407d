import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

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

/** Reads the note that an edge has left, if there is one that can be read. */
export function readNote(file: string): EdgeNote | undefined {
  try {
    const note = JSON.parse(readFileSync(file, "utf8")) as Partial<EdgeNote> | null;
    const { controlPort, pid, port, token } = note ?? {};
    const isWhole = [controlPort, pid, port].every(Number.isInteger) && typeof token === "string";
    return isWhole ? (note as EdgeNote) : undefined;
  } catch {
    return undefined;
  }
}

/** The file in which the edge of a port notes how it is reached. */
export function noteFile(folder: string, port: number): string {
  return join(folder, `edge-${port}.json`);
}

/** The notes of all edges of a folder. */
export function noteFiles(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => /^edge-\d+\.json$/.test(name));
    return names.map((name) => join(folder, name));
  } catch {
    return [];
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
