import { runDeployment } from "./application/deployments/engine/run_deployment.ts";
import { startWorker } from "./application/deployments/engine/worker.ts";
import { routesTo } from "./application/deployments/engine/serve.ts";
import { restoreReleases, sweepReleases } from "./application/deployments/restore_releases.ts";
import type { Config } from "./config.ts";
import type { openWorld } from "./open_world.ts";

const PROBATION_MS = 3_500;
const HEALTH_MS = 60_000;
const SWEEP_MS = 60_000;
const STOP_MS = 10_000;

/** What carries deployments out; disposing leaves running releases alone and unfinished deployments to the next process. */
export type Engine = AsyncDisposable;

/** Starts what is live, opens the edge, and takes deployments from the queue. */
export async function startEngine(world: Awaited<ReturnType<typeof openWorld>>, config: Config): Promise<Engine> {
  const { baseDomain, buildConcurrency, buildTimeoutSeconds, rollbackWindow } = config;
  const { edge, liveReleases, log, runtime } = world;
  edge.listen({ host: config.host, port: config.edgePort });
  await runtime.supervise();
  edge.load(await restoreReleases(world, { baseDomain })());
  const forget = liveReleases.onChange(
    (projectId) => void follow(projectId).catch(complain("The edge could not follow a change")),
  );
  const run = runDeployment(world, {
    baseDomain,
    buildTimeoutMs: buildTimeoutSeconds * 1000,
    rollbackWindow,
    edgeUrl: (hostname) => `http://${hostname}${edge.port === 80 ? "" : `:${edge.port}`}`,
    probationMs: PROBATION_MS,
    healthMs: HEALTH_MS,
  });
  const worker = startWorker(world, { run, maxBuilds: buildConcurrency });
  const sweep = sweepReleases(world);
  const sweeping = setInterval(() => void sweep().catch(complain("Leftovers could not be removed")), SWEEP_MS);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(sweeping);
      forget();
      await worker.stop();
      await edge.stop(STOP_MS);
    },
  };

  /** Another process may have moved a project on, or everything may have changed while nobody told. */
  async function follow(projectId: string | null): Promise<void> {
    if (projectId === null) return;
    const live = await liveReleases.find(projectId);
    if (!live) await sweep();
    await edge.switch(projectId, live ? await routesTo(world, live.project, live.deployment, baseDomain) : []);
  }

  function complain(message: string) {
    return (error: unknown) =>
      log.write("warn", message, { error: error instanceof Error ? error.message : String(error) });
  }
}
