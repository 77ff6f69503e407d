import { setTimeout as delay } from "node:timers/promises";
import type { BoundedLog } from "./bounded_log.ts";
import { type Cluster, clusterPath } from "./cluster.ts";
import { readPostmasterFile } from "./postmaster_file.ts";
import { inherited, startProgram, type RunningProgram } from "./program.ts";
import { unavailable } from "./unavailable.ts";

/** A running PostgreSQL server that accepts connections. */
export interface Postmaster {
  /** Resolves with the reason when the server has exited, for whatever cause. */
  readonly ended: Promise<string>;
  /** Stops the server: connections are closed, committed data is kept. */
  stop(): Promise<void>;
}

/** The failure code of a start on a port that is taken. */
export const PORT_TAKEN = "postgres_port_taken";

const READY_WITHIN = 600_000;
const STOP_WITHIN = 10_000;

/** Defaults for a small server; settings of the caller override them. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "100",
  shared_buffers: "64MB",
  max_wal_size: "256MB",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_logical_replication_workers: "0",
  io_method: "sync",
  jit: "off",
  log_checkpoints: "off",
  // Statements and details in the log may contain secrets of users.
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
};

/** Starts PostgreSQL on a cluster without running processes, and waits until it accepts connections. */
export async function startPostmaster(
  cluster: Cluster,
  options: { port: number; settings: Readonly<Record<string, string>> },
): Promise<Postmaster> {
  const path = clusterPath(cluster.folder);
  const settings = { ...SETTINGS, ...options.settings, port: `${options.port}` };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  cluster.log.forget();
  const child = startProgram({
    command: [cluster.binaries.postgres, "-D", inherited(path, 3), ...flags],
    files: [path],
    user: cluster.user,
    deathSignal: "INT",
  });
  const ended = whenEnded(child, cluster.log);
  try {
    await ready(path, child, ended);
  } catch (error) {
    await stop(child);
    throw error;
  }
  return { ended, stop: () => stop(child) };
}

async function whenEnded(child: RunningProgram, log: BoundedLog): Promise<string> {
  const logged = log.follow(child.stderr).catch(() => {});
  await child.exited;
  // Orphaned backends may hold the pipe open; a short wait suffices for the last output of the postmaster.
  await Promise.race([logged, delay(50)]);
  return child.signalCode ? `ended by ${child.signalCode}` : log.reason() || `exit code ${child.exitCode}`;
}

async function ready(path: string, child: RunningProgram, ended: Promise<string>): Promise<void> {
  const started = Date.now();
  while (child.exitCode === null && child.signalCode === null) {
    // The file contains the pid, so that another server on the same port is not mistaken for this one.
    const file = await readPostmasterFile(path);
    if (file?.pid === child.pid && file.ready) return;
    const waited = Date.now() - started;
    if (waited > READY_WITHIN)
      throw unavailable(
        "postgres_not_ready",
        "Cannot start the embedded PostgreSQL: it does not become ready; postgres.log in the data folder says more",
      );
    await delay(waited < 1_000 ? 4 : 50);
  }
  const reason = await ended;
  const code = /could not create any TCP\/IP sockets/.test(reason) ? PORT_TAKEN : "postgres_not_started";
  throw unavailable(code, `Cannot start the embedded PostgreSQL: ${reason}; postgres.log in the data folder says more`);
}

async function stop(child: RunningProgram): Promise<void> {
  for (const signal of ["SIGINT", "SIGQUIT", "SIGKILL"] as const) {
    child.kill(signal);
    const patience = new AbortController();
    const over = await Promise.race([
      child.exited.then(() => true),
      delay(STOP_WITHIN, false, { signal: patience.signal }).catch(() => false),
    ]);
    patience.abort();
    if (over) return;
  }
}
