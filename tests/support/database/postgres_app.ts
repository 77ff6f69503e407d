import { MemoryLog } from "../../../adapters/memory/log.ts";
import { memoryWorld } from "../../../adapters/memory/memory_world.ts";
import type { PostgresWorldOptions } from "../../../adapters/postgres/postgres_world.ts";
import { type AppSettings, buildApplication } from "../../../wiring/build_application.ts";
import type { World } from "../../../ports/world.ts";
import { caller, SETTINGS } from "../apps/app.ts";
import { migratedDatabase, openStores } from "./postgres_stores.ts";
import { recorded } from "../apps/recorded.ts";

/** Overrides of the defaults. */
export interface PostgresAppOptions extends Partial<Omit<PostgresWorldOptions, "url">> {
  readonly settings?: Partial<AppSettings>;
  /** Ports that replace the in-memory ones. */
  readonly replace?: Partial<World>;
}

/**
 * The whole application on its own PostgreSQL database, with its first owner. All ports but the stores are in memory.
 */
export async function postgresApp({ settings, replace, ...options }: PostgresAppOptions = {}) {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await migratedDatabase());
  const { [Symbol.asyncDispose]: _, ...stores } = opened.use(await openStores({ ...options, url }));
  const world = { ...memoryWorld(), ...stores, log: new MemoryLog() };
  const { handle, routes, useCases } = buildApplication(recorded({ ...world, ...replace }), {
    ...SETTINGS,
    ...settings,
  });
  const { shownToken } = await useCases.claimInstallation(undefined);
  const lifetime = opened.move();
  return {
    url,
    world,
    handle,
    routes,
    useCases,
    call: caller(handle, routes),
    owner: shownToken!,
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}
