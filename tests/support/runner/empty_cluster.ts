import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedPostgres } from "../database/embedded_postgres.ts";
import { must } from "./command.ts";

const VARIABLE = "SLIPWAY_TEST_CLUSTER";

/** A PostgreSQL cluster with an empty database, for tests to copy: to make one anew keeps a processor busy for a second. */
export interface EmptyCluster extends AsyncDisposable {
  /** What tells tests of it. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Makes one for all groups of a run. */
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

/** Makes a data folder with a copy of that cluster; without one nothing is done, and whoever needs a cluster makes it. */
export async function copyEmptyCluster(folder: string): Promise<void> {
  const original = process.env[VARIABLE];
  if (original !== undefined) await must(["cp", "--archive", "--reflink=auto", original, folder]);
}
