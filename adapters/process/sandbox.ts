import type { SandboxDirs } from "./sandbox_dirs.ts";

export const SANDBOX_KINDS = ["bubblewrap", "namespaces", "plain"] as const;
export type SandboxKind = (typeof SANDBOX_KINDS)[number];

/** Where a program finds itself. */
export interface Surroundings {
  /** The folder to spawn in, outside. */
  readonly spawnFolder: string;
  /** The folder it starts in, as it sees it. */
  readonly working: string;
  readonly home: string;
  readonly programs: string;
}

/** A way to run a program apart from others. */
export interface Sandbox {
  readonly kind: SandboxKind;
  /** How many processes of the sandbox itself stand between the launcher and the program. */
  readonly depth: number;
  /** Whether the kernel ends every process in it with the first one. */
  readonly endsWhole: boolean;
  surroundings(dirs: SandboxDirs): Surroundings;
  /** The argument vector that runs a command in the room. */
  command(dirs: SandboxDirs, command: readonly string[]): string[];
}

/** The argument vector in front of a command that gives up root's rights, for good, and ties it to the life of its parent. */
export function droppingRights({ user }: Pick<SandboxDirs, "user">): string[] {
  const last = ["--no-new-privs", "--pdeathsig=KILL", "--"];
  if (!user) return Bun.which("setpriv") ? ["setpriv", ...last] : [];
  return ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", "--inh-caps=-all", ...last];
}
