import type { Log } from "../../../ports/system/log.ts";
import type { EngineApi } from "../engine/engine_api.ts";
import type { ReachPort } from "./container_listening.ts";

/** The engine, the installation and the settings of a `DockerRuntime`. */
export interface DockerRuntimeOptions {
  readonly engine: EngineApi;
  /** Distinguishes this installation's containers from those of others on the same engine. */
  readonly installation: string;
  /** Where servers of this installation record which instances they are starting, and how programs ended. */
  readonly folder: string;
  readonly log?: Log;
  /** Labels that containers and networks carry in addition to Slipway's own. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Starts supervising with the first instance that it starts. */
  readonly watchOnStart?: boolean;
  /** Age at which a resource without a container counts as left behind by a killed server. Defaults to 10 minutes. */
  readonly leftAfterMs?: number;
  /** For an engine on another machine: how its published ports are reached from here. */
  readonly reach?: ReachPort;
}
