import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { FindSystemUser, SystemUser } from "../../ports/servers/system_user.ts";
import { bubblewrap } from "./bubblewrap.ts";
import { NAMESPACE_PROGRAMS, namespaces } from "./namespaces.ts";
import { plain } from "./plain.ts";
import { makeSandboxDirs } from "./sandbox_dirs.ts";
import { type Sandbox, SANDBOX_KINDS, type SandboxKind } from "./sandbox.ts";
import { unavailable } from "./unavailable.ts";

/** The sandbox and user that isolate programs on this machine. */
export interface Confinement {
  readonly sandbox: Sandbox;
  readonly user: SystemUser | undefined;
}

/** Sandboxes to try, best first. */
export interface SandboxChoice {
  /** Folder in which a temporary folder is created for the trial. */
  readonly folder: string;
  readonly kinds?: readonly SandboxKind[];
  /** The user that programs run as when the server is root. */
  readonly user: FindSystemUser;
}

const WORKS = 7;

/** Returns the best sandbox that works on this machine, by trying each. Throws `no_sandbox` when none does. */
export async function chooseSandbox({
  folder,
  kinds = SANDBOX_KINDS,
  user: find,
}: SandboxChoice): Promise<Confinement> {
  if (process.platform !== "linux") {
    throw unavailable("no_sandbox", "Cannot run programs here: that requires Linux; set SLIPWAY_RUNTIME to docker");
  }
  const user = await find();
  for (const kind of kinds) {
    const sandbox = candidate(kind, user);
    if (sandbox && (await works(sandbox, { folder, user }))) return { sandbox, user };
  }
  throw unavailable(
    "no_sandbox",
    "Cannot run programs: as root they need a sandbox, or a data folder that other users can traverse; install bubblewrap, or run Slipway as an unprivileged user",
  );
}

/**
 * Returns a function that chooses a sandbox on first use. A failed choice is retried on the next call, as the missing
 * program may have been installed.
 */
export function sandboxChooser(choice: SandboxChoice): () => Promise<Confinement> {
  let chosen: Promise<Confinement> | undefined;
  return () => {
    chosen ??= chooseSandbox(choice).catch((error: unknown) => {
      chosen = undefined;
      throw error;
    });
    return chosen;
  };
}

function candidate(kind: SandboxKind, user: SystemUser | undefined): Sandbox | undefined {
  if (kind === "plain") return user && !Bun.which("setpriv") ? undefined : plain;
  if (kind === "namespaces") {
    return user && NAMESPACE_PROGRAMS.every((program) => Bun.which(program)) ? namespaces : undefined;
  }
  const program = Bun.which("bwrap");
  return program && (!user || Bun.which("setpriv")) ? bubblewrap(program) : undefined;
}

/** Returns whether a sandboxed program can reach its folders, run the same way as every program will be. */
async function works(
  sandbox: Sandbox,
  { folder, user }: { readonly folder: string; readonly user: SystemUser | undefined },
): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const trial = await mkdtemp(join(folder, ".trial-"));
  await chmod(trial, 0o711);
  try {
    const release = join(trial, "release");
    await mkdir(release);
    const dirs = await makeSandboxDirs({ folder: trial, release, workingFolder: release, hidden: trial, user });
    const { spawnFolder, working, home } = sandbox.surroundings(dirs);
    const look = ["/bin/sh", "-c", `cd "$1" && cd "$2" && : >file && exit ${WORKS}`, "sh", working, home];
    const command = sandbox.command(dirs, look);
    const outcome = Bun.spawn(command, { cwd: spawnFolder, stdio: ["ignore", "ignore", "ignore"], env: SYSTEM_PATH });
    return (await outcome.exited) === WORKS;
  } catch {
    return false;
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

/** The environment for the machine's own programs. */
export const SYSTEM_PATH: Readonly<Record<"PATH", string>> = {
  PATH: `/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
};
