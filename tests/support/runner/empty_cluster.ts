import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedPostgres } from "../database/embedded_postgres.ts";
import { must } from "./command.ts";

const VARIABLE = "SLIPWAY_TEST_CLUSTER";

/** A PostgreSQL cluster with an empty database for tests to copy, because creating one takes a second of CPU time. */
export interface EmptyCluster extends AsyncDisposable {
  /** The environment variables that tests find it by. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Creates a cluster for all groups of a run. */
export async function emptyCluster(): Promise<EmptyCluster> {
  const place = await mkdtemp(join(tmpdir(), "slr-"));
  const folder = join(place, "data");
  await (await embeddedPostgres({ folder }))[Symbol.asyncDispose]();
  await rm(join(folder, "postgres.log"), { force: true });
  return {
    environment: { [VARIABLE]: folder },
    [Symbol.asyncDispose]: () => rm(place, { recursive: true, force: true }),
  };
}

/**
 * Copies that cluster into a new data folder. Does nothing if there is none; then PostgreSQL creates its own cluster.
 */
export async function copyEmptyCluster(folder: string): Promise<void> {
  const original = process.env[VARIABLE];
  if (original !== undefined) await must(["cp", "--archive", "--reflink=auto", original, folder]);
}
