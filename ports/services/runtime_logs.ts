import type { LeftOut } from "../../domain/deployments/output_tail.ts";
import type { OutputLine, OutputQuery } from "./runtime.ts";

/** Whose log it is: a service of a release. */
export interface LogOwner {
  readonly deploymentId: string;
  readonly service: string;
}

/** What an instance printed. */
export interface InstanceOutput {
  readonly instanceId: string;
  /** With the numbers that the runtime gave them, oldest first; at least one. */
  readonly lines: readonly OutputLine[];
  /** What it printed before these lines. */
  readonly leftOut: LeftOut | null;
}

/** How a log stands. */
export interface LogState extends LogOwner {
  /** The number of its last line. */
  readonly last: number;
  /** The instance whose output the log ends with; `null` once one of that id was started anew. */
  readonly endsWith: string | null;
}

/** What services of releases printed, kept when their instances are gone, the same for every process. */
export interface RuntimeLogs {
  /**
   * Adds what an instance printed to the log of its service. A line gets the number that the runtime gave it, counted from the last line of the log
   * before the instance's own. Where the log ends with that instance already, its output is replaced, so that all can be done again. Beyond
   * `maxBytes` the oldest lines of the log are left out, some more than needed perhaps, and a line in their place says how many. What no text can hold
   * (NUL, half a surrogate pair) becomes U+FFFD. Rejects with a `not_found` failure when there is no such deployment.
   */
  append(owner: LogOwner, output: InstanceOutput, options: { readonly maxBytes: number }): Promise<void>;
  /** Makes final what the log ends with of this instance, as one of that id is about to be started anew. */
  seal(owner: LogOwner, instanceId: string): Promise<void>;
  /** How these logs stand, in any order; those without a line are left out. */
  states(owners: readonly LogOwner[]): Promise<readonly LogState[]>;
  /** Lines of a log, oldest first, where they are long fewer than the limit; none when there is no more. */
  read(owner: LogOwner, wanted: OutputQuery): Promise<readonly OutputLine[]>;
  /** The projects of which more than so many deployments have logs. */
  crowded(deployments: number): Promise<readonly string[]>;
  /** Removes the logs of these deployments. They also go with their deployments. */
  remove(deploymentIds: readonly string[]): Promise<void>;
}
