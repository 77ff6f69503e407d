import type { ImageRequest } from "../../../ports/deployments/image_builder.ts";
import type { BuildContext } from "./build_context.ts";
import { ClassicLog } from "./classic_log.ts";
import { contextTar } from "./context_tar.ts";
import { inspectContainer } from "../engine/containers.ts";
import type { EngineApi, EngineRequest } from "../engine/engine_api.ts";
import { type BuildEnd, runBuild } from "./running_build.ts";

export interface ClassicBuildOptions {
  readonly engine: EngineApi;
  readonly request: ImageRequest;
  readonly context: BuildContext;
  readonly query: NonNullable<EngineRequest["query"]>;
  readonly memoryBytes?: number;
  readonly cpus?: number;
}

const CPU_PERIOD = 100_000;
const GONE_WITHIN_MS = 10_000;
const ASK_AGAIN_MS = 50;

/** Builds with the classic builder, which every engine has: sends the context as one tar, and no secrets. */
export async function classicBuild(options: ClassicBuildOptions): Promise<string> {
  const { engine, request, context, query, memoryBytes, cpus } = options;
  let unread: unknown;
  const { dockerfile, stream } = contextTar(context, (reason) => (unread ??= reason));
  const limits = {
    ...(memoryBytes !== undefined && { memory: memoryBytes, memswap: memoryBytes }),
    ...(cpus !== undefined && { cpuperiod: CPU_PERIOD, cpuquota: Math.round(cpus * CPU_PERIOD) }),
  };
  const buildRequest = {
    query: { ...query, ...limits, version: 1, rm: 1, forcerm: 1, dockerfile },
    body: stream,
    headers: { "content-type": "application/x-tar" },
  };
  const { signal, log } = request;
  const reader = new ClassicLog();
  const cancel = async ({ close }: BuildEnd) => {
    // Closing the connection cancels the build; the builder then stops the container that it runs.
    close();
    await containerGone(engine, reader.container);
  };
  try {
    return await runBuild({ engine, reader, buildRequest, signal, log, cancel });
  } catch (error) {
    signal.throwIfAborted();
    throw unread ?? error;
  }
}

async function containerGone(engine: EngineApi, container: string | undefined): Promise<void> {
  if (container === undefined) return;
  for (const giveUpAt = Date.now() + GONE_WITHIN_MS; Date.now() < giveUpAt;) {
    if ((await inspectContainer(engine, container)) === undefined) return;
    await Bun.sleep(ASK_AGAIN_MS);
  }
}
