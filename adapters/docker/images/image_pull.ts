import type { ImageReference } from "../../../domain/image/image_reference.ts";
import type { PullRequest } from "../../../ports/deployments/image_registry.ts";
import { buildMessages } from "../build/build_messages.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { PullLog } from "./pull_log.ts";

export interface ImagePull {
  readonly engine: EngineApi;
  readonly reference: ImageReference;
  readonly request: Pick<PullRequest, "signal" | "log">;
  /** How long the pull may stall before it is given up. */
  readonly stallMs: number;
}

/**
 * Has the engine pull an image. Resolves to the error message of the engine or the registry if the pull failed, to
 * `undefined` if it succeeded. Rejects with an `engine_away` failure, or with the reason of the signal. Closing the
 * connection cancels the pull on the engine; older engines notice that only when they next send something.
 */
export async function pullImage({ engine, reference, request, stallMs }: ImagePull): Promise<string | undefined> {
  const { signal, log } = request;
  signal.throwIfAborted();
  const stall = new StallWatch(stallMs);
  const connection = new AbortController();
  const open = AbortSignal.any([signal, stall.signal, connection.signal]);
  try {
    const query = { fromImage: reference.name, tag: reference.digest ?? reference.tag ?? undefined };
    const options = { query, signal: open, timeoutMs: null };
    stall.begin();
    const answer = await engine.request("POST", "/images/create", options);
    const progress = new PullLog();
    for await (const message of buildMessages(answer)) {
      stall.end();
      signal.throwIfAborted();
      const error = message.errorDetail?.message ?? message.error;
      if (error !== undefined) return error;
      const line = progress.take(message);
      if (line !== undefined) await log(line, "stdout");
      stall.begin();
    }
    signal.throwIfAborted();
    await log(`Pulled ${reference.full}: ${progress.summary()}`, "stdout");
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (stall.signal.aborted)
      return `nothing came from ${reference.registry} for ${Math.ceil(stallMs / 1_000)} seconds`;
    if (error instanceof EngineRefusal) return error.message;
    throw error;
  } finally {
    stall.end();
    connection.abort();
  }
}

/** Aborts its signal when progress stalls. */
class StallWatch {
  readonly #controller = new AbortController();
  readonly #ms: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  begin(): void {
    this.end();
    this.#timer = setTimeout(() => this.#controller.abort(), this.#ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
