import type { BuildScript } from "../../../adapters/memory/builder.ts";
import { MemoryLog } from "../../../adapters/memory/log.ts";
import { type MemoryWorld, memoryWorld } from "../../../adapters/memory/memory_world.ts";
import type { SourceFiles } from "../../../adapters/memory/sources.ts";
import type { EngineSettings } from "../../../application/deployments/engine/run.ts";
import { Slots } from "../../../application/system/slots.ts";
import { runDeployment } from "../../../application/deployments/engine/run_deployment.ts";
import { startWorker, type Worker } from "../../../application/deployments/engine/worker.ts";
import type { DeployRequest } from "../../../application/deployments/deploy_project.ts";
import { useCases } from "../../../wiring/build_application.ts";
import type { Deployment, StepName } from "../../../domain/deployments/deployment.ts";
import type { DeploymentEvent, NewEvent } from "../../../domain/deployments/deployment_event.ts";
import { isSettled } from "../../../domain/deployments/transitions.ts";
import type { Principal } from "../../../domain/identity/permission.ts";
import type { Project, ProjectSettings } from "../../../domain/projects/project.ts";
import type { ProbeResult } from "../../../ports/deployments/health_probe.ts";
import type { World } from "../../../ports/world.ts";
import { SETTINGS } from "./app.ts";
import { eventually } from "../eventually.ts";
import { recorded } from "./recorded.ts";
import { file, streamOf, tarGz } from "../inputs/tar_archive.ts";

/** The repository that a scene's projects are linked to. */
export const REPOSITORY = "https://git.example.com/acme/shop.git";

export const APP: SourceFiles = {
  "package.json": JSON.stringify({ scripts: { build: "make it", start: "serve it" }, dependencies: { left: "1.0.0" } }),
  "server.js": "listen()",
};
export const SITE: SourceFiles = { "index.html": "<h1>Hi</h1>" };

/** The commands detected in `APP`. */
export const INSTALL = "npm install";
export const BUILD = "npm run build";
export const START = "npm run start";

const ENGINE: Omit<EngineSettings, "buildSlots"> = {
  baseDomain: "localhost",
  publicHost: "127.0.0.1",
  githostUrl: "https://git.example.com",
  credentialFor: async () => undefined,
  runtime: "process",
  baseImages: [],
  cacheScope: (cacheKey) => cacheKey,
  buildTimeoutMs: 5_000,
  localSources: { mode: "self-hosted", roots: [], dataFolder: "/var/lib/slipway" },
  rollbackWindow: 2,
  edgeUrl: async (hostname) => `http://${hostname}:4480`,
  probationMs: 3,
  healthMs: 60,
};

type SceneWorld = MemoryWorld & { readonly log: MemoryLog };

export interface SceneOptions {
  readonly engine?: Partial<EngineSettings>;
  readonly maxBuilds?: number;
  /** Substitutes some of the ports. */
  readonly replace?: (world: SceneWorld) => Partial<World>;
}

/** Projects, sources and workers in memory. Disposal stops the workers and removes the instances. */
export class EngineScene implements AsyncDisposable {
  /** The in-memory adapters behind any substituted ports. */
  readonly memory: SceneWorld;
  readonly world: World;
  readonly useCases: ReturnType<typeof useCases>;
  by!: Principal;
  /** Whether health checks succeed. */
  healthy: () => boolean = () => true;
  /** The status that programs respond with on a path; null makes it follow from `healthy`. */
  status: (path: string) => number | null = () => null;
  readonly #options: SceneOptions;
  readonly #workers: Worker[] = [];
  readonly #doomed: Worker[] = [];

  constructor(options: SceneOptions = {}) {
    this.#options = options;
    this.memory = { ...memoryWorld(), log: new MemoryLog() };
    const healthProbe = { check: async ({ path }: { readonly path: string | null }) => this.#probed(path) };
    this.world = recorded({ ...this.memory, healthProbe, ...options.replace?.(this.memory) });
    this.useCases = useCases(this.world, SETTINGS);
    this.known.git[REPOSITORY] = { commits: [commit("a1", APP)] };
  }

  /** The sources that exist. */
  get known() {
    return this.memory.sources.known;
  }

  /** Opens a scene with its first owner and one worker. */
  static async open(options: SceneOptions = {}): Promise<EngineScene> {
    const scene = new EngineScene(options);
    const { shownToken } = await scene.useCases.claimInstallation(undefined);
    const credential = { kind: "token", value: shownToken!, organizationId: null, actingMember: null } as const;
    scene.by = await scene.useCases.identifyCaller(credential);
    scene.work();
    return scene;
  }

  /** Starts another worker, as another process would. */
  work(): void {
    this.#workers.push(this.#start(this.world));
  }

  /** Starts a worker in its own world that may never stop, such as one that will be killed. */
  doomed(world: World): void {
    this.#doomed.push(this.#start(world));
  }

  #probed(path: string | null): ProbeResult {
    const status = path === null ? null : this.status(path);
    return { isHealthy: status === null ? this.healthy() : status < 400, status };
  }

  #start(world: World): Worker {
    const run = runDeployment(world, { ...ENGINE, buildSlots: new Slots(4), ...this.#options.engine });
    // Tests control the clock, for leases too.
    const elapsedMs = () => this.memory.clock.now().getTime();
    return startWorker(world, { run, maxBuilds: this.#options.maxBuilds ?? 2, elapsedMs });
  }

  /** Stops all workers, as a server shutdown does. */
  async rest(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map((worker) => worker.stop()));
  }

  /** Creates a project, linked to `REPOSITORY` by default. */
  project(settings: ProjectSettings = { gitUrl: REPOSITORY }): Promise<Project> {
    return this.useCases.createProject(this.by, { name: `Shop ${crypto.randomUUID().slice(0, 8)}`, settings });
  }

  deploy(project: Project, request: Omit<DeployRequest, "projectId"> = {}): Promise<Deployment> {
    return this.useCases.deployProject(this.by, { projectId: project.id, ...request });
  }

  /** Uploads a folder; resolves to its session id. */
  async upload(files: SourceFiles): Promise<string> {
    const { id } = await this.useCases.openUploadSession(this.by, {});
    const archive = tarGz(Object.entries(files).map(([name, content]) => file(name, content)));
    await this.useCases.receiveUpload(this.by, id, { stream: streamOf(archive), announcedBytes: undefined });
    return id;
  }

  /** The ids of the uploads that occupy storage. */
  async uploads(): Promise<string[]> {
    return Array.fromAsync(this.memory.uploadFiles.stored(), ({ id }) => id);
  }

  /** Deploys and waits until the deployment has settled. */
  async deployed(project: Project, request: Omit<DeployRequest, "projectId"> = {}): Promise<Deployment> {
    return this.settled((await this.deploy(project, request)).id);
  }

  /** Waits until the deployment has settled. */
  settled(id: string): Promise<Deployment> {
    return this.until(id, isSettled);
  }

  /** Waits until the deployment satisfies a condition. */
  async until(id: string, holds: (deployment: Deployment) => boolean): Promise<Deployment> {
    const found = await eventually(
      () => this.memory.deployments.get(id),
      (deployment) => deployment !== undefined && holds(deployment),
    );
    return found!;
  }

  /** Waits until a step of the deployment runs. */
  inStep(id: string, step: StepName): Promise<Deployment> {
    return this.until(id, ({ steps }) => steps.some(({ name, status }) => name === step && status === "running"));
  }

  events(id: string): Promise<readonly DeploymentEvent[]> {
    return this.memory.deploymentEvents.read(id, { since: 0, limit: 100_000 });
  }

  /** The messages of the log, one per line. */
  async log(id: string): Promise<string[]> {
    return (await this.events(id)).flatMap((event) => (event.type === "log" ? [event.message] : []));
  }

  /** The id of the deployment that serves a project's visitors. */
  served(project: Project): string | undefined {
    return this.memory.edge.routeOf(`${project.slug}.localhost`, "/")?.servedBy.split("-")[0];
  }

  /** The ids of the deployments with a running instance. */
  async running(): Promise<string[]> {
    return (await this.memory.runtime.list()).map(({ deploymentId }) => deploymentId);
  }

  async folders(): Promise<string[]> {
    return Array.fromAsync(this.memory.releaseFolders.list());
  }

  /** Scripts the behavior of a build command. */
  scriptBuild(script: BuildScript, command = BUILD): void {
    this.memory.builder.scripts.set(command, script);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rest();
    // Not awaited: a killed worker never stops.
    for (const worker of this.#doomed) void worker.stop();
    for (const { instanceId } of await this.memory.runtime.list()) await this.memory.runtime.remove(instanceId);
  }
}

/** A commit at the tip of `main`. */
export function commit(sha: string, files: SourceFiles, branches: readonly string[] = ["main"]) {
  return { sha: sha.padEnd(40, "0"), message: `Commit ${sha}`, branches, files };
}

/** Summarizes events in order, without log lines. */
export function eventSummary(events: readonly NewEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === "status" || event.type === "end") return [`${event.type} ${event.status}`];
    if (event.type === "progress") return [`progress ${event.step}`];
    if (event.type === "service") return [`service ${event.name} ${event.status}`];
    return event.type === "prompt" ? ["prompt"] : [];
  });
}
