import type { Adoptions } from "./adoptions.ts";
import type { EngineInventories } from "./engine_inventories.ts";

/** The migration ports that the application depends on. */
export interface MigrationPorts {
  readonly adoptions: Adoptions;
  readonly engineInventories: EngineInventories;
}
