import type { ImageRequest } from "../../../ports/deployments/image_builder.ts";
import type { BuildContext } from "./build_context.ts";
import { BuildLog, type LogLine } from "./build_log.ts";
import type { BuildMessage } from "./build_messages.ts";
import { buildSecrets, GET_SECRET } from "./build_secrets.ts";
import { BuildSession } from "./build_session.ts";
import { buildTrace } from "./build_trace.ts";
import { away, type EngineApi, type EngineRequest } from "../engine/engine_api.ts";
import type { ProjectTimes } from "./content_times.ts";
import { FILE_SYNC, fileSync } from "./file_sync.ts";
import { type BuildEnd, type BuildReader, runBuild } from "./running_build.ts";

export interface BuildkitBuildOptions {
  readonly engine: EngineApi;
  readonly request: ImageRequest;
  readonly context: BuildContext;
  readonly query: NonNullable<EngineRequest["query"]>;
  /** Contexts of the same key are likely to share most of their files. */
  readonly contextKey: string;
  readonly times: ProjectTimes;
}

/** Builds with BuildKit, which requests files and secrets over a session that lasts as long as the build. */
export async function buildkitBuild(options: BuildkitBuildOptions): Promise<string> {
  const { engine, request, context, query, contextKey, times } = options;
  let unread: unknown;
  const failed = (reason: unknown) => (unread ??= reason);
  const handlers = { [FILE_SYNC]: fileSync({ context, times, failed }), [GET_SECRET]: buildSecrets(request.secrets) };
  using session = await BuildSession.open(engine, handlers, contextKey);
  const buildid = crypto.randomUUID();
  const buildRequest = {
    query: {
      ...query,
      version: 2,
      session: session.id,
      remote: "client-session",
      dockerfile: context.dockerfile.name,
      buildid,
    },
  };
  const reader = new TraceReader();
  const cancel = async ({ ended }: BuildEnd) => {
    await engine.request("POST", "/build/cancel", { query: { id: buildid } });
    await ended;
  };
  try {
    return await runBuild({ engine, reader, buildRequest, signal: request.signal, log: request.log, cancel });
  } catch (error) {
    request.signal.throwIfAborted();
    throw unread ?? error;
  }
}

class TraceReader implements BuildReader {
  readonly #log = new BuildLog();
  image: string | undefined;

  get failed() {
    return this.#log.failed;
  }

  read({ id, aux }: BuildMessage): readonly LogLine[] {
    if (id === "moby.image.id") this.image = (aux as { readonly ID: string }).ID;
    if (id !== "moby.buildkit.trace" || typeof aux !== "string") return [];
    try {
      return this.#log.take(buildTrace(Buffer.from(aux, "base64")));
    } catch (cause) {
      throw away("its response is invalid", cause);
    }
  }

  flush(): readonly LogLine[] {
    return this.#log.flush();
  }
}
