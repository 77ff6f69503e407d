import type { Environment } from "../../domain/deployments/deployment.ts";
import type { Secret } from "../../domain/secret.ts";
import type { Variable, VariableUpsert } from "../../domain/projects/variable.ts";

/** A change of one of a project's sets of variables. */
export interface VariablesChange {
  readonly upserts: readonly VariableUpsert[];
  readonly deletes: readonly string[];
  readonly at: Date;
  /** The environment whose set is changed; production if absent. */
  readonly environment?: Environment;
}

/**
 * Stores the environment variables of projects, encrypted at rest. A project has a set for each environment; without an
 * environment, methods refer to the set of production. Variables of single services, with keys like `db/PASSWORD`, are
 * in the same sets and count for the same limits.
 */
export interface Variables {
  /** Sorted by the UTF-8 bytes of the key. The value of a secret is `null`. */
  list(projectId: string, environment?: Environment): Promise<readonly Variable[]>;
  /**
   * Writes and deletes atomically. Deleting an absent key is no error. Rejects, and changes nothing, when the change
   * sets a value and the set would then exceed `VARIABLE_LIMITS`, even under a race.
   */
  change(projectId: string, change: VariablesChange): Promise<void>;
  /** Returns all values, secrets included, for a deployment's environment. */
  reveal(projectId: string, environment?: Environment): Promise<ReadonlyMap<string, Secret>>;
}
