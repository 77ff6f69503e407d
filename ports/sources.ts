import type { DeploymentSource } from "../domain/deployment/deployment.ts";
import type { Secret } from "../domain/secret.ts";

/** What was fetched. */
export interface FetchedSource {
  readonly commitSha: string | null;
  readonly commitMessage: string | null;
}

/** Brings the code of a deployment into its folder. */
export interface Sources {
  /**
   * Fills an existing empty folder. Rejects with a `Failure` whose sentence says what went wrong and that holds no credential; aborting ends
   * every program it started.
   */
  fetch(
    source: Exclude<DeploymentSource, { kind: "artifact" | "copy" }>,
    into: {
      readonly folder: string;
      readonly credential?: Secret;
      readonly signal: AbortSignal;
      readonly log: (line: string, stream: "stdout" | "stderr") => void | Promise<void>;
    },
  ): Promise<FetchedSource>;
}
