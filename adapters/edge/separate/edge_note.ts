import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Settings that a separate edge process is started with. */
export interface EdgeProcessSettings {
  readonly host: string;
  readonly port: number;
  readonly trustedProxies: readonly string[];
  /** The port for TLS; without it, there is no TLS. */
  readonly tlsPort?: number;
  /** Whether plain requests for hosts with a certificate are redirected; absent for `true`. */
  readonly httpsRedirect?: boolean;
  /** For how long browsers are told to use only HTTPS; absent for not at all. */
  readonly hstsSeconds?: number;
  /** The number of threads that serve; absent for one. */
  readonly workers?: number;
}

/** How the server reaches its separate edge process. */
export interface EdgeNote {
  readonly pid: number;
  /** The port for visitors. */
  readonly port: number;
  /** The port for visitors over TLS; 0 while it does not listen on it. */
  readonly tlsPort: number;
  /** The control port, on loopback. */
  readonly controlPort: number;
  /** The bearer token that authenticates commands. */
  readonly token: string;
  /** The settings that it was started with. */
  readonly settings: EdgeProcessSettings;
  /** The version of the control protocol. */
  readonly protocol: number;
}

/** Changes with the commands: a server replaces an edge of another version. */
export const PROTOCOL = 3;

/** Reads the note file of an edge; `undefined` if it is missing or invalid. */
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

/** Path of the note file of the edge on a port. */
export function noteFile(folder: string, port: number): string {
  return join(folder, `edge-${port}.json`);
}

/** Paths of the note files of all edges in a folder. */
export function noteFiles(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => /^edge-\d+\.json$/.test(name));
    return names.map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Writes a note file atomically, readable by its owner only (it contains the token). */
export function writeNote(file: string, note: EdgeNote): void {
  const part = `${file}.${note.pid}.part`;
  writeFileSync(part, JSON.stringify(note), { mode: 0o600 });
  renameSync(part, file);
}

/** Removes a note file, unless another edge has replaced it since. */
export function removeNote(file: string, { pid }: Pick<EdgeNote, "pid">): void {
  if (readNote(file)?.pid === pid) rmSync(file, { force: true });
}
