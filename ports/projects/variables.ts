import type { Secret } from "../../domain/secret.ts";
import type { Variable, VariableUpsert } from "../../domain/projects/variable.ts";

/** The environment variables of projects, encrypted at rest. */
export interface Variables {
  /** Sorted by key; a secret's value is `null`. */
  list(projectId: string): Promise<readonly Variable[]>;
  /**
   * Writes and deletes in one step; deleting an absent key is no error. Rejects, and changes nothing, when a project that
   * gets a value would then be beyond `VARIABLE_LIMITS`, also under a race.
   */
  change(
    projectId: string,
    change: { readonly upserts: readonly VariableUpsert[]; readonly deletes: readonly string[]; readonly at: Date },
  ): Promise<void>;
  /** All values, for a deployment's environment. */
  reveal(projectId: string): Promise<ReadonlyMap<string, Secret>>;
}
