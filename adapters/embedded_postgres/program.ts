import { closeSync, constants, openSync } from "node:fs";
import type { SystemUser } from "../../ports/servers/system_user.ts";
import { unavailable } from "./unavailable.ts";

/**
 * Path of an open file for a child process: by file descriptor where the system supports it, so that the child needs no
 * permission to traverse the real path.
 */
export function inherited(path: string, descriptor: number): string {
  return process.platform === "linux" ? `/proc/self/fd/${descriptor}` : path;
}

/** Options of a PostgreSQL program. */
export interface Program {
  /** Command with arguments; refers to the files by `inherited(path, 3)`, `inherited(path, 4)` and so on. */
  readonly command: readonly string[];
  readonly user: SystemUser | undefined;
  /** Files and folders that the program inherits open, from file descriptor 3 on. */
  readonly files: readonly string[];
  /** Signal that the program gets when this process dies, for whatever cause. */
  readonly deathSignal: "INT" | "KILL";
  readonly input?: string;
}

/** A started program, with its stderr still to be read. */
export type RunningProgram = Bun.Subprocess<Uint8Array | "ignore", "ignore", "pipe">;

/** Starts a PostgreSQL program as an unprivileged user, in its own session, without this process's environment. */
export function startProgram({ command, user, files, deathSignal, input }: Program): RunningProgram {
  const descriptors = files.map((file) => openSync(file, constants.O_RDONLY));
  try {
    return Bun.spawn([...privileges(user, deathSignal), ...command], {
      cwd: "/",
      // Must contain neither the server's secrets nor PG… variables.
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
      // Ctrl-C in the terminal is for the server, which stops PostgreSQL when it no longer needs it.
      detached: true,
      stdio: [input === undefined ? "ignore" : new TextEncoder().encode(input), "ignore", "pipe", ...descriptors],
    });
  } finally {
    descriptors.forEach((descriptor) => closeSync(descriptor));
  }
}

/**
 * Returns the command prefix that drops root privileges and sends `deathSignal` to the program when this process dies.
 */
export function privileges(user: SystemUser | undefined, deathSignal: string): string[] {
  const setpriv = process.platform === "linux" ? Bun.which("setpriv") : null;
  if (setpriv) {
    const drop = user ? [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", "--inh-caps=-all"] : [];
    return [setpriv, ...drop, "--no-new-privs", `--pdeathsig=${deathSignal}`, "--"];
  }
  if (!user) return [];
  throw unavailable(
    "no_setpriv",
    "Cannot start the embedded PostgreSQL: it does not run as root and setpriv is missing; install util-linux, or set DATABASE_URL",
  );
}
