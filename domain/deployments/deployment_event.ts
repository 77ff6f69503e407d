import type { OutputStream } from "./output_stream.ts";
import type { Decision, DeploymentError, DeploymentStatus, ServiceStatus, StepName } from "./deployment.ts";

export type LogLevel = "info" | "warn" | "error";

/** One line of program output, or of Slipway's own messages. */
export interface LogLine {
  readonly at: Date;
  readonly level: LogLevel;
  readonly step: StepName | null;
  readonly service: string | null;
  readonly stream: OutputStream;
  readonly message: string;
}

/** An event of a deployment, before it gets its sequence number. */
export type NewEvent =
  | { readonly type: "status"; readonly status: DeploymentStatus; readonly decision: Decision | null }
  | ({ readonly type: "log" } & LogLine)
  | { readonly type: "progress"; readonly step: StepName; readonly percent: number }
  | { readonly type: "service"; readonly name: string; readonly status: ServiceStatus; readonly error: string | null }
  | {
      readonly type: "prompt";
      readonly promptId: string;
      readonly title: string;
      readonly message: string;
      readonly actions: readonly { readonly id: string; readonly label: string }[];
      readonly expiresAt: Date;
    }
  | {
      readonly type: "end";
      readonly status: DeploymentStatus;
      readonly decision: Decision | null;
      readonly error: DeploymentError | null;
    };

/** An event with its sequence number: from 1, without gaps, per deployment. */
export type DeploymentEvent = NewEvent & { readonly seq: number };
