import { chown, mkdir, open, readFile, rename, rm, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { conflict } from "../../domain/failure.ts";
import type { BoundedLog } from "./bounded_log.ts";
import { DATABASE, USER } from "./connection_record.ts";
import { stopLeftovers } from "./leftover_processes.ts";
import type { PostgresBinaries } from "./postgres_binaries.ts";
import { inherited, type Program, startProgram } from "./program.ts";
import type { SystemUser } from "../../ports/servers/system_user.ts";
import { unavailable } from "./unavailable.ts";
import { unlessMissing } from "../shared/error_code.ts";

/** What is needed to create and maintain a PostgreSQL cluster. */
export interface Cluster {
  /** The data folder; the cluster lies in its subfolder `postgres`. */
  readonly folder: string;
  readonly binaries: PostgresBinaries;
  readonly user: SystemUser | undefined;
  readonly log: BoundedLog;
}

/**
 * More iterations would slow down every connection (4096 take 8 ms) without any gain: the password has 256 random bits.
 */
const FEW_ITERATIONS = ["--set", "scram_iterations=1"];

/** The path of the cluster in a data folder. */
export function clusterPath(folder: string): string {
  return join(folder, "postgres");
}

/** Returns whether the data folder has a complete cluster of the right version. Throws if its version differs. */
export async function hasCluster({ folder, binaries }: Cluster): Promise<boolean> {
  const path = clusterPath(folder);
  const version = await readFile(join(path, "PG_VERSION"), "utf8").catch(unlessMissing);
  if (version === undefined) return false;
  if (version.trim() === binaries.major) return true;
  throw conflict(
    "postgres_version",
    `Cannot start: the data folder contains a PostgreSQL ${version.trim()} database, but this version of Slipway includes PostgreSQL ${binaries.major}; start the former version of Slipway, or move the data to a server named by DATABASE_URL`,
  );
}

/**
 * Creates a cluster with an empty database. Atomic: an interrupted call leaves no cluster, and the next starts over.
 */
export async function createCluster(cluster: Cluster, password: string): Promise<void> {
  const part = join(cluster.folder, "postgres.part");
  await stopLeftovers(part);
  await rm(part, { recursive: true, force: true });
  await mkdir(part, { mode: 0o700 });
  if (cluster.user) await chown(part, cluster.user.uid, cluster.user.gid);
  await initialize(cluster, part, password);
  await runSingleUser(cluster, part, `CREATE DATABASE ${DATABASE}\n`);
  await run(cluster, { command: [cluster.binaries.initdb, "--sync-only", "-D", inherited(part, 3)], files: [part] });
  await rename(part, clusterPath(cluster.folder));
}

/**
 * Changes the owner of a cluster to the user that PostgreSQL runs as, for example after it was copied by another user.
 */
export async function ownCluster({ folder, user }: Cluster): Promise<void> {
  const path = clusterPath(folder);
  if (!user || (await stat(path)).uid === user.uid) return;
  const command = ["chown", "--recursive", "--no-dereference", `${user.uid}:${user.gid}`, path];
  await Bun.spawn(command, { stdio: ["ignore", "ignore", "ignore"] }).exited;
}

/** Sets the password of a cluster that is not running. */
export async function setPassword(cluster: Cluster, password: string): Promise<void> {
  await runSingleUser(cluster, clusterPath(cluster.folder), `ALTER ROLE ${USER} PASSWORD '${password}'\n`);
}

async function initialize(cluster: Cluster, part: string, password: string): Promise<void> {
  const passwordFile = join(cluster.folder, "postgres.password.part");
  await rm(passwordFile, { force: true });
  const file = await open(passwordFile, "wx", 0o600);
  try {
    await file.writeFile(`${password}\n`);
    if (cluster.user) await file.chown(cluster.user.uid, cluster.user.gid);
    const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
    const access = [`--username=${USER}`, "--auth-local=reject", "--auth-host=scram-sha-256"];
    const secret = [`--pwfile=${inherited(passwordFile, 4)}`, ...FEW_ITERATIONS];
    await run(cluster, {
      command: [cluster.binaries.initdb, "-D", inherited(part, 3), "--no-sync", ...locale, ...access, ...secret],
      files: [part, passwordFile],
    });
  } finally {
    await file.close();
    await unlink(passwordFile);
  }
}

/** Runs one statement in single-user mode, without a server; passes it by stdin, invisible in the process list. */
async function runSingleUser(cluster: Cluster, path: string, input: string): Promise<void> {
  const quick = ["--single", "-F", "-c", "exit_on_error=on", "-c", "log_checkpoints=off"];
  const command = [cluster.binaries.postgres, ...quick, "-D", inherited(path, 3), "postgres"];
  await run(cluster, { command, files: [path], input });
}

async function run({ user, log }: Cluster, program: Pick<Program, "command" | "files" | "input">): Promise<void> {
  log.forget();
  const child = startProgram({ ...program, user, deathSignal: "KILL" });
  const [code] = await Promise.all([child.exited, log.follow(child.stderr)]);
  if (code === 0) return;
  throw unavailable(
    "postgres_not_initialized",
    `Cannot prepare the embedded PostgreSQL: ${log.reason() || `its program ended with ${child.signalCode ?? code}`}; postgres.log in the data folder says more`,
  );
}
