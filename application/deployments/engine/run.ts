import { STEP_PERCENT } from "../../../domain/deployments/step_percent.ts";
import type { Deployment, StepName, StepRecord } from "../../../domain/deployments/deployment.ts";
import { isRunning } from "../../../domain/deployments/transitions.ts";
import type { LogLevel, NewEvent } from "../../../domain/deployments/deployment_event.ts";
import { Failure } from "../../../domain/failure.ts";
import type { BaseImages } from "../../../domain/image/base_images.ts";
import type { Project, RuntimeName } from "../../../domain/projects/project.ts";
import type { Secret } from "../../../domain/secret.ts";
import type { Adoptions } from "../../../ports/migration/adoptions.ts";
import type { Builder } from "../../../ports/deployments/builder.ts";
import type { Clock } from "../../../ports/system/clock.ts";
import type { ServiceSets } from "../../../ports/deployments/service_sets.ts";
import type { ContainerEngine } from "../../../ports/deployments/container_engine.ts";
import type { DeployKeys } from "../../../ports/projects/deploy_keys.ts";
import type { DeploymentEvents } from "../../../ports/deployments/deployment_events.ts";
import type { DeploymentChange, Deployments } from "../../../ports/deployments/deployments.ts";
import type { Domains } from "../../../ports/domains/domains.ts";
import type { Edge } from "../../../ports/domains/edge.ts";
import type { HealthProbe } from "../../../ports/deployments/health_probe.ts";
import type { HostFolders } from "../../../ports/projects/host_folders.ts";
import type { ImageBuilder } from "../../../ports/deployments/image_builder.ts";
import type { Installation } from "../../../ports/identity/installation.ts";
import type { InstanceSockets } from "../../../ports/services/instance_sockets.ts";
import type { ImageRegistry } from "../../../ports/deployments/image_registry.ts";
import type { KeptSources } from "../../../ports/projects/kept_sources.ts";
import type { LiveReleases } from "../../../ports/deployments/live_releases.ts";
import type { ManifestParser } from "../../../ports/projects/manifest_parser.ts";
import type { Projects } from "../../../ports/projects/projects.ts";
import type { ReleaseFolders } from "../../../ports/deployments/release_folders.ts";
import type { ReleaseImages } from "../../../ports/deployments/release_images.ts";
import type { PullRequests } from "../../../ports/githost/pull_requests.ts";
import type { Runtime } from "../../../ports/services/runtime.ts";
import type { ServerEngines } from "../../../ports/servers/server_engines.ts";
import type { ServiceNetworks } from "../../../ports/services/service_networks.ts";
import type { Sources } from "../../../ports/projects/sources.ts";
import type { UploadFiles } from "../../../ports/projects/upload_files.ts";
import type { Variables } from "../../../ports/projects/variables.ts";
import type { Volumes } from "../../../ports/services/volumes.ts";
import type { YamlReader } from "../../../ports/projects/yaml_reader.ts";
import type { LocalSourceRules } from "../../projects/check_local_path.ts";
import type { CleanImagesPorts } from "../cleanup/clean_images.ts";
import type { EndPreviewsPorts } from "../cleanup/end_previews.ts";
import type { EventWriter } from "./event_writer.ts";
import { type Hold, LeaseLost } from "./hold.ts";
import type { Slots } from "../../system/slots.ts";

/** All ports of the engine. */
export interface EnginePorts {
  readonly adoptions: Adoptions;
  readonly builder: Builder;
  readonly clock: Clock;
  readonly serviceSets: ServiceSets;
  readonly containerEngine: ContainerEngine;
  readonly deployKeys: DeployKeys;
  readonly deploymentEvents: DeploymentEvents;
  readonly deployments: Deployments;
  readonly domains: Domains;
  readonly edge: Edge;
  readonly healthProbe: HealthProbe;
  readonly hostFolders: HostFolders;
  readonly imageBuilder: ImageBuilder;
  readonly imageRegistry: ImageRegistry;
  readonly installation: Installation;
  readonly instanceSockets: InstanceSockets;
  readonly keptSources: KeptSources;
  readonly liveReleases: LiveReleases;
  readonly manifestParser: ManifestParser;
  readonly projects: Projects;
  readonly pullRequests: Pick<PullRequests, "closed">;
  readonly releaseFolders: ReleaseFolders;
  readonly releaseImages: ReleaseImages;
  readonly runtime: Runtime;
  readonly serverEngines: ServerEngines;
  readonly serviceNetworks: ServiceNetworks;
  readonly sources: Sources;
  readonly uploadFiles: UploadFiles;
  readonly variables: Variables;
  readonly volumes: Volumes;
  readonly yamlReader: YamlReader;
}

/** The operator's settings for running deployments. */
export interface EngineSettings {
  readonly baseDomain: string;
  /** The API's own host, which no project may take. */
  readonly publicHost: string;
  /** Base URL that repositories of the git host are cloned from. */
  readonly githostUrl: string;
  /** Returns the credential for a repository of the git host that a deployment is built from, or for a submodule of it. */
  readonly credentialFor: (
    project: Project,
    clone: { readonly url: string; readonly sourceUrl: string },
    signal: AbortSignal,
  ) => Promise<Secret | undefined>;
  /** The runtime of projects that choose none. */
  readonly runtime: RuntimeName | "auto";
  /** Turns a key of build caches into one that other projects cannot guess. */
  readonly cacheScope: (key: string) => string;
  /** Where the base images of generated Dockerfiles are pulled from. */
  readonly baseImages: BaseImages;
  readonly buildTimeoutMs: number;
  /** The default rules for using folders of this machine. */
  readonly localSources: LocalSourceRules;
  /** Limits how many builds of this process run at once, of any kind. */
  readonly buildSlots: Slots;
  readonly rollbackWindow: number;
  /** Returns the address that visitors reach a host name at. */
  readonly edgeUrl: (hostname: string) => Promise<string>;
  /** How long a release must stay healthy before the former one is retired. */
  readonly probationMs: number;
  /** How long a release may take to become healthy. */
  readonly healthMs: number;
}

/** The ports that every step needs, to store its progress and to log. */
type RecordPorts = "clock" | "deploymentEvents" | "deployments";

/** The ports of the work that continues after a run. */
export type BackgroundPorts = EndPreviewsPorts & CleanImagesPorts;

/** A change of a deployment. */
type Change = (deployment: Deployment) => Deployment;

/** One deployment that this process runs, with the ports that a step names. */
export interface Run<Name extends keyof EnginePorts = never> {
  /** Fenced: changes succeed only while the run holds its deployment. */
  readonly ports: Pick<EnginePorts, RecordPorts | Name>;
  readonly hold: Hold;
  readonly settings: EngineSettings;
  readonly project: Project;
  /** The variables by key, including those of single services, as recorded with the deployment. */
  environment: ReadonlyMap<string, Secret>;
  writer: EventWriter;
  /** Aborts the run, with a `StopReason`. */
  signal: AbortSignal;
  /** As last stored. */
  deployment: Deployment;
  /** Changes that are stored together with the next one, in this order, for example that a step is done. */
  pendingChanges?: readonly Change[] | undefined;
  /**
   * Work to do after a successful run. The run no longer holds its deployment then, so each task checks itself what it
   * may still do.
   */
  readonly backgroundTasks: ((ports: BackgroundPorts) => Promise<void>)[];
}

/**
 * Stores a change of the run's deployment with its events, after every line queued before, and with its environment if
 * given. Throws `LeaseLost` if the deployment is no longer this run's to change.
 */
export async function store(
  run: Run,
  change: Change,
  events: readonly NewEvent[] = [],
  also: Pick<DeploymentChange, "environment"> = {},
): Promise<void> {
  await run.writer.storeWith(async (lines) => {
    let noted: Run["pendingChanges"];
    const changed = await run.ports.deployments.change(run.deployment.id, (deployment) => {
      if (!isStillOurs(run, deployment)) throw new LeaseLost();
      noted = run.pendingChanges;
      return { ...also, deployment: change(withNoted(run, deployment)), events: [...lines, ...events] };
    });
    if (!changed) throw new Failure("not_found", "deployment_not_found", "Cannot continue: the deployment was deleted");
    run.deployment = changed;
    // Others may have been noted meanwhile.
    run.pendingChanges = run.pendingChanges?.filter((pending) => !noted?.includes(pending));
  });
}

/** Notes a change, to be stored together with the next one. */
export function note(run: Run, change: Change): void {
  run.pendingChanges = [...(run.pendingChanges ?? []), change];
}

/** Applies the noted changes that are to be stored along. */
export function withNoted({ pendingChanges = [] }: Run, deployment: Deployment): Deployment {
  return pendingChanges.reduce((changed, change) => change(changed), deployment);
}

/**
 * Returns whether a stored deployment is still this run's to change: no other run has taken it, and it has not ended.
 */
export function isStillOurs(run: Run, stored: Deployment): boolean {
  return stored.attempts === run.deployment.attempts && (isRunning(stored) || stored.pendingDecision !== null);
}

/** Whether the database is unavailable. Nothing is decided then, and the next attempt continues. */
export function isOutage(cause: unknown): boolean {
  return cause instanceof Failure && (cause.code === "database_away" || cause.code === "database_busy");
}

/** Thrown when a person stops a deployment; the message goes into its log. */
export class Stopped extends Error {
  override readonly name = "Stopped";
}

/** Writes a line to the deployment's log. */
export function logLine(run: Run, at: StepName | null, message: string, level: LogLevel = "info"): void {
  // A line that cannot be stored now stays queued; the next change of the deployment reports the error.
  void Promise.resolve(run.writer.line(message, { step: at, stream: "slipway", level })).catch(() => {});
}

/** Runs a named step and records its status and duration. */
export async function step(run: Run, name: StepName, work: () => Promise<void>): Promise<void> {
  run.signal.throwIfAborted();
  const startedAt = run.ports.clock.now();
  const record = (status: StepRecord["status"], durationMs: number | null) => (deployment: Deployment) => ({
    ...deployment,
    steps: [...deployment.steps.filter((known) => known.name !== name), { name, status, startedAt, durationMs }],
  });
  await store(run, record("running", null), [{ type: "progress", step: name, percent: STEP_PERCENT[name] }]);
  const elapsed = () => run.ports.clock.now().getTime() - startedAt.getTime();
  try {
    await work();
  } catch (error) {
    await store(run, record("failed", elapsed())).catch((problem: unknown) => {
      // If another run has taken over, its progress must not be undone.
      if (problem instanceof LeaseLost) throw problem;
    });
    // A later step may find that an earlier one left it nothing to do: that one is named then.
    throw error instanceof StepFailed ? error : new StepFailed(name, error);
  }
  // Stored with the next change; only moved traffic has to be recorded at once.
  if (name === "switch") await store(run, record("done", elapsed()));
  else note(run, record("done", elapsed()));
}

/** An error, with the step that it happened in. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";
  readonly step: StepName;

  constructor(name: StepName, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.step = name;
  }
}
