import { closeSync, constants, openSync } from "node:fs";
import type { SystemUser } from "../../ports/servers/system_user.ts";
import { unavailable } from "./unavailable.ts";

/** Names an open file to a child: by descriptor where the system can, so that the path to it need not be passable. */
export function inherited(path: string, descriptor: number): string {
  return process.platform === "linux" ? `/proc/self/fd/${descriptor}` : path;
}

/** What a program of PostgreSQL is started with. */
export interface Program {
  /** Argument vector; the files are named in it by `inherited(path, 3)`, `inherited(path, 4)` and so on. */
  readonly command: readonly string[];
  readonly user: SystemUser | undefined;
  /** Files and folders the program gets opened, from descriptor 3 on. */
  readonly files: readonly string[];
  /** Sent to the program when this process dies, however it dies. */
  readonly deathSignal: "INT" | "KILL";
  readonly input?: string;
}

/** A started program whose errors are still to be read. */
export type RunningProgram = Bun.Subprocess<Uint8Array | "ignore", "ignore", "pipe">;

/** Starts a program of PostgreSQL as an unprivileged user, in a session of its own, without this process's environment. */
export function startProgram({ command, user, files, deathSignal, input }: Program): RunningProgram {
  const descriptors = files.map((file) => openSync(file, constants.O_RDONLY));
  try {
    return Bun.spawn([...privileges(user, deathSignal), ...command], {
      cwd: "/",
      // Neither the server's secrets nor anyone's PG… variables belong in there.
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
      // A Ctrl-C in the terminal is for the server, which stops PostgreSQL when it is done with it.
      detached: true,
      stdio: [input === undefined ? "ignore" : new TextEncoder().encode(input), "ignore", "pipe", ...descriptors],
    });
  } finally {
    descriptors.forEach((descriptor) => closeSync(descriptor));
  }
}

/** The argument vector in front of a command that drops root's rights and ties the program's life to this process. */
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
