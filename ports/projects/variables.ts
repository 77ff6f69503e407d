import type { Secret } from "../../domain/secret.ts";
import type { Variable, VariableUpsert } from "../../domain/projects/variable.ts";

/** Stores the environment variables of projects, encrypted at rest. */
export interface Variables {
  /** Sorted by key. The value of a secret is `null`. */
  list(projectId: string): Promise<readonly Variable[]>;
  /**
   * Writes and deletes atomically. Deleting an absent key is no error. Rejects, and changes nothing, when the change
   * sets a value and the project would then exceed `VARIABLE_LIMITS`, even under a race.
   */
  change(
    projectId: string,
    change: { readonly upserts: readonly VariableUpsert[]; readonly deletes: readonly string[]; readonly at: Date },
  ): Promise<void>;
  /** Returns all values, secrets included, for a deployment's environment. */
  reveal(projectId: string): Promise<ReadonlyMap<string, Secret>>;
}
