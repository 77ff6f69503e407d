import { buildFailure, type FailedStep } from "./build_failure.ts";
import type { LogLine } from "./build_log.ts";
import { type BuildMessage, buildMessages } from "./build_messages.ts";
import { away, type EngineApi, type EngineRequest, EngineRefusal } from "../engine/engine_api.ts";

/** How long a build may take to end after it was cancelled. */
const END_MS = 15_000;

/** Interprets the messages of one kind of builder. */
export interface BuildReader {
  readonly image: string | undefined;
  readonly failed: FailedStep | undefined;
  /** Returns the lines that a message completes. */
  read(message: BuildMessage): readonly LogLine[];
  /** Returns the lines that were never completed. */
  flush(): readonly LogLine[];
}

/** The means to end a build. */
export interface BuildEnd {
  /** Closes the connection of the build. */
  close(): void;
  /** Resolves when the engine sends no more messages. */
  readonly ended: Promise<void>;
}

export interface RunningBuild {
  readonly engine: EngineApi;
  readonly reader: BuildReader;
  readonly buildRequest: EngineRequest;
  readonly signal: AbortSignal;
  readonly log: (line: string, stream: "stdout" | "stderr") => void | Promise<void>;
  /** Cancels the build on the engine, and resolves once nothing of it runs. */
  readonly cancel: (end: BuildEnd) => Promise<void>;
}

/**
 * Runs a build and resolves to its image. When aborted, cancels the build on the engine and waits up to 15 s for its
 * end, before it rejects with the reason.
 */
export async function runBuild(build: RunningBuild): Promise<string> {
  const { signal, cancel } = build;
  signal.throwIfAborted();
  const connection = new AbortController();
  const following = follow(build, connection.signal);
  const ended = following.then(
    () => {},
    () => {},
  );
  const stopped = Promise.withResolvers<void>();
  const stop = async () => {
    const late = setTimeout(() => stopped.resolve(), END_MS);
    await cancel({ close: () => connection.abort(), ended }).catch(() => {});
    clearTimeout(late);
    stopped.resolve();
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([following, stopped.promise.then(() => Promise.reject(signal.reason))]);
  } catch (error) {
    if (!signal.aborted) throw error;
    await stopped.promise;
    throw signal.reason;
  } finally {
    signal.removeEventListener("abort", stop);
    connection.abort();
  }
}

async function follow({ engine, reader, buildRequest, signal, log }: RunningBuild, open: AbortSignal): Promise<string> {
  const { promise: aborted, resolve: onAbort } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => onAbort(), { once: true });
  const report = async (lines: readonly LogLine[]) => {
    for (const { text, stream } of lines) {
      if (signal.aborted) return;
      await Promise.race([log(text, stream), aborted]);
    }
  };
  const request = { ...buildRequest, signal: open, timeoutMs: null };
  const answer = await engine.request("POST", "/build", request).catch((error: unknown) => {
    throw error instanceof EngineRefusal ? buildFailure(error.message) : error;
  });
  let error: string | undefined;
  for await (const message of buildMessages(answer)) {
    await report(reader.read(message));
    error ??= message.errorDetail?.message ?? message.error;
  }
  await report(reader.flush());
  signal.throwIfAborted();
  if (error !== undefined) throw buildFailure(error, reader.failed);
  if (reader.image === undefined) throw away("its response ended early");
  return reader.image;
}
