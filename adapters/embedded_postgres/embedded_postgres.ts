import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../domain/failure.ts";
import type { FindSystemUser } from "../../ports/servers/system_user.ts";
import { BoundedLog } from "./bounded_log.ts";
import { type Cluster, clusterPath, createCluster, hasCluster, ownCluster, setPassword } from "./cluster.ts";
import {
  type ConnectionRecord,
  connectionUrl,
  readConnectionRecord,
  writeConnectionRecord,
} from "./connection_record.ts";
import { lockFolder } from "./folder_lock.ts";
import { freePort, PORT_RANGES } from "../shared/free_port.ts";
import { keepRunning } from "./keep_running.ts";
import { stopLeftovers } from "./leftover_processes.ts";
import { postgresBinaries } from "./postgres_binaries.ts";
import { PORT_TAKEN, type Postmaster, startPostmaster } from "./postmaster.ts";
import { folderUnusable, unavailable } from "./unavailable.ts";

/** A PostgreSQL server owned by this process; disposing it stops the server. */
export interface EmbeddedPostgres extends AsyncDisposable {
  /** URL with credentials; stays the same for the life of this process, also when PostgreSQL restarts. */
  readonly url: string;
}

/** Options of the embedded PostgreSQL. */
export interface EmbeddedPostgresOptions {
  /** Absolute path of the data folder; created if missing. */
  readonly folder: string;
  /** The user that PostgreSQL runs as when the server is root, which PostgreSQL refuses. */
  readonly user: FindSystemUser;
  /** Called each time PostgreSQL exits unexpectedly; it restarts by itself. */
  readonly onExit?: (reason: string) => void;
  /** PostgreSQL settings that override the defaults for a small server. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts the PostgreSQL of a data folder and creates the database the first time; only one process at a time may. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    return await start(options);
  } catch (error) {
    throw folderUnusable(error);
  }
}

async function start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { folder, settings = {} } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  using held = new DisposableStack();
  held.use(lockFolder(folder));
  const user = await options.user();
  const binaries = await postgresBinaries({ forEveryone: user !== undefined });
  const cluster: Cluster = { folder, user, binaries, log: new BoundedLog(join(folder, "postgres.log")) };
  const password = await prepare(cluster);
  const { postmaster, record } = await startAnywhere(cluster, { password, settings });
  const running = keepRunning(postmaster, {
    restart: async () => {
      await stopLeftovers(clusterPath(folder));
      return startPostmaster(cluster, { port: record.port, settings });
    },
    onExit: options.onExit ?? (() => {}),
  });
  const lock = held.move();
  return {
    url: connectionUrl(record),
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      lock.dispose();
    },
  };
}

/** Ensures a complete cluster without leftover processes; returns its password. */
async function prepare(cluster: Cluster): Promise<string> {
  const { folder } = cluster;
  const known = await readConnectionRecord(folder);
  const password = known?.password ?? newPassword();
  if (!(await hasCluster(cluster))) {
    await createCluster(cluster, password);
  } else {
    await stopLeftovers(clusterPath(folder));
    await ownCluster(cluster);
    if (!known) await setPassword(cluster, password);
  }
  return password;
}

function newPassword(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });
}

function databasePort(): number {
  const port = freePort(PORT_RANGES.database);
  if (port !== undefined) return port;
  throw unavailable("no_free_port", "Cannot start the embedded PostgreSQL: found no free port on 127.0.0.1");
}

/** Starts on a free port; retries with another one when that port is taken meanwhile. */
async function startAnywhere(
  cluster: Cluster,
  { password, settings }: { password: string; settings: Readonly<Record<string, string>> },
): Promise<{ postmaster: Postmaster; record: ConnectionRecord }> {
  for (let attempt = 1; ; attempt++) {
    const record = { port: databasePort(), password };
    await writeConnectionRecord(cluster.folder, record);
    try {
      return { postmaster: await startPostmaster(cluster, { port: record.port, settings }), record };
    } catch (error) {
      if (attempt === 5 || !(error instanceof Failure) || error.code !== PORT_TAKEN) throw error;
    }
  }
}
