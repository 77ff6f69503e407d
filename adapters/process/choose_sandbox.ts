import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { FindSystemUser, SystemUser } from "../../ports/servers/system_user.ts";
import { bubblewrap } from "./bubblewrap.ts";
import { NAMESPACE_PROGRAMS, namespaces } from "./namespaces.ts";
import { plain } from "./plain.ts";
import { makeSandboxDirs } from "./sandbox_dirs.ts";
import { type Sandbox, SANDBOX_KINDS, type SandboxKind } from "./sandbox.ts";
import { unavailable } from "./unavailable.ts";

/** How programs are kept apart here. */
export interface Confinement {
  readonly sandbox: Sandbox;
  readonly user: SystemUser | undefined;
}

/** Which sandboxes to try, best first. */
export interface SandboxChoice {
  /** Where to make a folder for trying. */
  readonly folder: string;
  readonly kinds?: readonly SandboxKind[];
  /** Whom programs run as under root. */
  readonly user: FindSystemUser;
}

const WORKS = 7;

/** The best sandbox that works on this machine, found by trying. */
export async function chooseSandbox({
  folder,
  kinds = SANDBOX_KINDS,
  user: find,
}: SandboxChoice): Promise<Confinement> {
  if (process.platform !== "linux") {
    throw unavailable("no_sandbox", "Cannot run programs here: that takes Linux; set SLIPWAY_RUNTIME to docker");
  }
  const user = await find();
  for (const kind of kinds) {
    const sandbox = candidate(kind, user);
    if (sandbox && (await works(sandbox, { folder, user }))) return { sandbox, user };
  }
  throw unavailable(
    "no_sandbox",
    "Cannot run programs: as root they need a sandbox, or a data folder that other users may pass through; install bubblewrap, or run Slipway as an unprivileged user",
  );
}

/** Chooses a sandbox when it is first asked for; a choice that failed is made anew, as somebody may have installed what was missing. */
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

/** Whether a program in it reaches its folders, run the way every program will be. */
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

/** The environment that the machine's own programs are started with. */
export const SYSTEM_PATH: Readonly<Record<"PATH", string>> = {
  PATH: `/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
};
