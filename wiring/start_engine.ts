import { createHash } from "node:crypto";
import { join } from "node:path";
import { cleanImages } from "../application/deployments/cleanup/clean_images.ts";
import { sweepSources } from "../application/deployments/cleanup/clean_sources.ts";
import { cleanRuntimeLogs } from "../application/services/clean_runtime_logs.ts";
import type { EngineSettings } from "../application/deployments/engine/run.ts";
import { runTasks } from "../application/system/run_tasks.ts";
import { projectCredential } from "../application/githost/clone_credential.ts";
import { watchReports } from "../application/githost/watch_reports.ts";
import { Slots } from "../application/system/slots.ts";
import { runDeployment } from "../application/deployments/engine/run_deployment.ts";
import { startWorker } from "../application/deployments/engine/worker.ts";
import { followLiveReleases } from "../application/deployments/follow_live_releases.ts";
import {
  currentRoutes,
  retryRestore,
  restoreReleases,
  reviveReleases,
} from "../application/deployments/restore_releases.ts";
import { OutageWatch } from "../application/services/outage_watch.ts";
import { reviveAdopted } from "../application/deployments/cleanup/revive_adopted.ts";
import { sweepReleases } from "../application/deployments/cleanup/sweep_releases.ts";
import type { CertificateState } from "../application/certificates/follow_certificates.ts";
import { noteFile, noteFiles } from "../adapters/edge/separate/edge_note.ts";
import { SeparateEdge, stopEdge } from "../adapters/edge/separate/separate_edge.ts";
import type { Config } from "../config.ts";
import { loggedError } from "../domain/logged_error.ts";
import type { openWorld } from "./open_world.ts";
import { startCertificates } from "./start_certificates.ts";
import { visitorUrls } from "./visitor_urls.ts";

const RESTORE_MS = 2_000;
const SWEEP_MS = 60_000;
const STOP_MS = 10_000;
const CACHE_BYTES = 4 * 1_024 ** 3;
const IMAGE_CACHE_BYTES = 10 * 1_024 ** 3;

type OpenWorld = Awaited<ReturnType<typeof openWorld>>;

/** Carries out deployments. Disposing leaves running releases alone, and unfinished deployments to the next process. */
export type Engine = AsyncDisposable;

/** Restores live releases, opens the edge, and takes deployments from the queue. */
export async function startEngine(world: OpenWorld, config: Config & { readonly publicUrl: string }): Promise<Engine> {
  const { baseDomain, buildConcurrency, rollbackWindow } = config;
  const { edge, installation, liveReleases, log } = world;
  await takeEdgeAddress(world, config);
  const stopping = new AbortController();
  const { signal } = stopping;
  const restore = restoreReleases(world);
  const outages = new OutageWatch(world);
  const failed = logFailure("Could not remove leftovers");
  const sweep = runTasks(cleanups(world, { rollbackWindow, restore, outages }), { failed, signal });
  let sweepUnderWay: Promise<void> | undefined;
  const loaded = Promise.withResolvers<Iterable<string>>();
  const follow = followLiveReleases(world, { baseDomain, loaded: loaded.promise });
  // Subscribes before the first lookup, so that a release removed meanwhile gets no route afterwards.
  const unsubscribe = liveReleases.onChange((key) =>
    follow(key)
      .then((live) => live || tidy())
      .catch(logFailure("The edge could not follow a change")),
  );
  const routes = await currentRoutes(world, { baseDomain })();
  const load = async (first?: CertificateState) =>
    edge.load([...routes, ...(first?.proofs ?? [])], first?.certificates);
  const certifying = await startCertificates(world, { ...config, load }, signal);
  loaded.resolve(routes.map(({ projectId }) => projectId));
  const urls = visitorUrls(world, config);
  const settings = engineSettings(config, urls.final, await installation.id());
  const reporting = watchReports({ ...world, ...config, urlOf: urls.plain })(signal);
  const run = runDeployment(world, { ...settings, credentialFor: projectCredential({ ...world, ...config }) });
  let worker: ReturnType<typeof startWorker> | undefined;
  let sweeping: ReturnType<typeof setInterval> | undefined;
  // Runs in the background: one app that does not come up delays neither the API nor any other app.
  const working = begin().catch(logFailure("Could not restart the live releases"));
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await working;
      await reporting;
      await certifying.ended();
      clearInterval(sweeping);
      unsubscribe();
      await worker?.stop();
      await outages[Symbol.asyncDispose]();
      await edge.stop(STOP_MS);
    },
  };

  /** Restores live releases before it takes deployments, so that both never work on the same app at once. */
  async function begin(): Promise<void> {
    await supervise(world);
    const waiting = await restore({ back: follow, signal });
    if (signal.aborted) return;
    void retryRestore(restore, waiting, { everyMs: RESTORE_MS, signal, back: follow });
    void outages.lookAtAll().catch(logFailure("Could not check whether services are up"));
    worker = startWorker(world, { run, maxBuilds: buildConcurrency });
    sweeping = setInterval(tidy, SWEEP_MS);
    noteLeftContainers(world, config).then(tidy, logFailure("Could not look for containers"));
  }

  function tidy(): void {
    sweepUnderWay ??= sweep().finally(() => (sweepUnderWay = undefined));
  }

  function logFailure(message: string) {
    return (error: unknown) => log.write("warn", message, { ...loggedError(error) });
  }
}

/** Starts supervising what runs. */
async function supervise({ containers, installation, processes, serverEngines }: OpenWorld): Promise<void> {
  // Docker is optional: no engine is queried until something was put into containers.
  if (await installation.usesContainers()) void containers.supervise();
  await serverEngines.supervise();
  await processes.supervise();
}

/**
 * Binds the address of the edge, and takes it over from an edge left running in a separate process. Also ends separate
 * edges on other ports that no server uses.
 */
async function takeEdgeAddress({ edge }: OpenWorld, config: Config): Promise<void> {
  const { dataFolder, edgePort: port, edgeTlsPort: tlsPort, host } = config;
  const folder = join(dataFolder, "edge");
  const own = noteFile(folder, port);
  if (!(edge instanceof SeparateEdge)) await stopEdge(own, { ifAlone: false });
  await Promise.all(
    noteFiles(folder)
      .filter((file) => file !== own)
      .map((file) => stopEdge(file, { ifAlone: true })),
  );
  await edge.listen({ host, port, tlsPort });
}

interface CleanupParts {
  readonly rollbackWindow: number;
  readonly restore: ReturnType<typeof restoreReleases>;
  readonly outages: OutageWatch;
}

/** The tasks that restore live releases that are gone and remove leftovers. */
function cleanups(world: OpenWorld, { rollbackWindow, restore, outages }: CleanupParts) {
  const { builder, containers, installation, serverEngines } = world;
  const removeImages = cleanImages(world, IMAGE_CACHE_BYTES);
  const lookAfterContainers = async () => {
    if (!(await installation.usesContainers())) return;
    // Another server may have been the first to use containers.
    void containers.supervise();
    await removeImages();
  };
  const lookAfterServers = async () => {
    await serverEngines.supervise();
    for (const serverId of await serverEngines.inUse()) {
      const { releaseImages } = serverEngines.of(serverId);
      // The build cache of a server is its owner's as well.
      await cleanImages({ ...world, releaseImages })();
    }
  };
  return [
    reviveReleases(world, restore),
    () => outages.lookAtAll(),
    sweepReleases(world, rollbackWindow),
    reviveAdopted(world),
    sweepSources(world, rollbackWindow),
    cleanRuntimeLogs(world),
    () => builder.trimCaches(CACHE_BYTES),
    lookAfterContainers,
    lookAfterServers,
  ];
}

/**
 * Records container use by an earlier version, which did not record it. Otherwise its leftovers of deleted projects,
 * which no record mentions, would stay.
 */
async function noteLeftContainers(
  { containerEngine, containers, installation }: OpenWorld,
  { runtime }: Pick<Config, "runtime">,
): Promise<void> {
  if (runtime === "process" || (await installation.usesContainers())) return;
  if ((await containerEngine.answers()) && (await containers.list()).length > 0) await installation.noteContainers();
}

function engineSettings(
  config: Config & { readonly publicUrl: string },
  edgeUrl: EngineSettings["edgeUrl"],
  installation: string,
): Omit<EngineSettings, "credentialFor"> {
  return {
    baseDomain: config.baseDomain,
    publicHost: new URL(config.publicUrl).hostname,
    githostUrl: config.githostUrl,
    runtime: config.runtime,
    baseImages: config.baseImages,
    cacheScope: (cacheKey) => createHash("sha256").update(`${installation} caches ${cacheKey}`).digest("hex"),
    buildTimeoutMs: config.buildTimeoutSeconds * 1000,
    buildSlots: new Slots(config.buildConcurrency),
    localSources: { mode: config.mode, roots: config.localSourceRoots, dataFolder: config.dataFolder },
    rollbackWindow: config.rollbackWindow,
    edgeUrl,
    probationMs: config.probationSeconds * 1000,
    healthMs: config.healthTimeoutSeconds * 1000,
  };
}
