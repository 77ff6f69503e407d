import type { SandboxDirs } from "./sandbox_dirs.ts";

export const SANDBOX_KINDS = ["bubblewrap", "namespaces", "plain"] as const;
export type SandboxKind = (typeof SANDBOX_KINDS)[number];

/** The paths that a program runs with. */
export interface Surroundings {
  /** The folder to spawn in, outside the sandbox. */
  readonly spawnFolder: string;
  /** The working directory, as the program sees it. */
  readonly working: string;
  readonly home: string;
  readonly programs: string;
}

/** A way to isolate a program. */
export interface Sandbox {
  readonly kind: SandboxKind;
  /** How many levels below the launcher the program itself starts, with the sandbox's own processes in between. */
  readonly depth: number;
  /** Whether the kernel kills every process in it with the first one. */
  readonly endsWhole: boolean;
  surroundings(dirs: SandboxDirs): Surroundings;
  /** Returns the argv that runs a command in the sandbox. */
  command(dirs: SandboxDirs, command: readonly string[]): string[];
}

/** Returns the argv prefix that drops root privileges for good, and kills the command when its parent dies. */
export function droppingRights({ user }: Pick<SandboxDirs, "user">): string[] {
  const last = ["--no-new-privs", "--pdeathsig=KILL", "--"];
  if (!user) return Bun.which("setpriv") ? ["setpriv", ...last] : [];
  return ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", "--inh-caps=-all", ...last];
}
