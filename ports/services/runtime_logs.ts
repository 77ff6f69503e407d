import type { LeftOut } from "../../domain/deployments/output_tail.ts";
import type { OutputLine, OutputQuery } from "./runtime.ts";

/** The service of a release that a log belongs to. */
export interface LogOwner {
  readonly deploymentId: string;
  readonly service: string;
}

/** The output of an instance. */
export interface InstanceOutput {
  readonly instanceId: string;
  /** At least one line, oldest first, with the sequence numbers of the runtime. */
  readonly lines: readonly OutputLine[];
  /** A summary of the output before these lines that was dropped. */
  readonly leftOut: LeftOut | null;
}

/** The state of a log. */
export interface LogState extends LogOwner {
  /** The number of its last line. */
  readonly last: number;
  /** The instance whose output the log ends with; `null` once an instance with that id was started again. */
  readonly endsWith: string | null;
}

/** Stores the output of released services after their instances are gone, visible to every process. */
export interface RuntimeLogs {
  /**
   * Appends the output of an instance to the log of its service. A line's number is its runtime number plus the number
   * of the last line before the instance's own output. When the log already ends with that instance, its output is
   * replaced, so that the call is idempotent. Beyond `maxBytes` the oldest lines are dropped, perhaps some more than
   * needed, and a line in their place reports how many. Characters that text cannot store (NUL, unpaired surrogates)
   * become U+FFFD. Rejects with a `not_found` failure when there is no such deployment.
   */
  append(owner: LogOwner, output: InstanceOutput, options: { readonly maxBytes: number }): Promise<void>;
  /** Finalizes this instance's output at the end of the log, before an instance with the same id is started again. */
  seal(owner: LogOwner, instanceId: string): Promise<void>;
  /** Returns the states of these logs, in any order. Logs without lines are left out. */
  states(owners: readonly LogOwner[]): Promise<readonly LogState[]>;
  /** Returns lines of a log, oldest first: fewer than the limit where they are long, and none at the end. */
  read(owner: LogOwner, wanted: OutputQuery): Promise<readonly OutputLine[]>;
  /** Returns the projects in which more than this number of deployments have logs. */
  crowded(deployments: number): Promise<readonly string[]>;
  /** Deletes the logs of these deployments. Deleting a deployment deletes its logs too. */
  remove(deploymentIds: readonly string[]): Promise<void>;
}
