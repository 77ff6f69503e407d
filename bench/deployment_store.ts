import { keyringOf, newKeyText } from "../adapters/crypto/keyring.ts";
import { CryptoVault } from "../adapters/crypto/vault.ts";
import { migrate } from "../adapters/postgres/migrate.ts";
import { postgresWorld } from "../adapters/postgres/postgres_world.ts";
import type { NewEvent } from "../domain/deployments/deployment_event.ts";
import { embeddedPostgres } from "../tests/support/database/embedded_postgres.ts";
import { aDeployment } from "../tests/support/database/store_builders.ts";
import { tempFolder } from "./temp_folder.ts";

/** The stores on an embedded PostgreSQL with production settings. */
export async function deploymentStore() {
  await using opened = new AsyncDisposableStack();
  const { path } = opened.use(await tempFolder());
  const { url } = opened.use(await embeddedPostgres({ folder: path }));
  await migrate(url);
  const vault = new CryptoVault(await keyringOf([{ text: newKeyText(), origin: "the benchmark" }]));
  const world = opened.use(await postgresWorld({ url, vault }));
  await world.signals.whenLive();
  const held = opened.move();
  return {
    url,
    events: world.deploymentEvents,
    /** Creates a deployment; resolves to its id. */
    deployment: async () => (await aDeployment(world)).id,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

/** Log lines like those of a build, all different. */
export function buildLines(count: number): (NewEvent & { type: "log" })[] {
  const at = new Date();
  return Array.from({ length: count }, (_, index) => ({
    type: "log",
    at,
    level: "info",
    step: "build",
    service: null,
    stream: index % 10 === 0 ? "stderr" : "stdout",
    message: `[${index}/${count}] \u001b[32mcompiled\u001b[0m ./src/components/part-${index % 977}/view.tsx in ${index % 61} ms`,
  }));
}

/** Splits a list into batches of one size. */
export function inBatches<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
