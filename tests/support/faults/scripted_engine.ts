import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AnswerLimits, EngineApi } from "../../../adapters/docker/engine/engine_api.ts";

/** A fake container engine whose responses a test scripts. */
export interface ScriptedEngine extends AsyncDisposable {
  readonly engine: EngineApi;
  /** All requests so far, in the form `DELETE /images/x`. */
  readonly requests: string[];
}

/** Opens a scripted engine. `undefined` means no response for as long as it is open. */
export async function scriptedEngine(
  answer: (request: string) => Response | undefined,
  limits: AnswerLimits,
): Promise<ScriptedEngine> {
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  const socket = join(folder, "engine.sock");
  const requests: string[] = [];
  const server = Bun.serve({
    unix: socket,
    fetch({ method, url }) {
      const request = `${method} ${new URL(url).pathname.replace(/^\/v[\d.]+/, "")}`;
      requests.push(request);
      return answer(request) ?? new Promise<Response>(() => {});
    },
  });
  return {
    engine: new EngineApi(`unix://${socket}`, limits),
    requests,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await rm(folder, { recursive: true });
    },
  };
}

/** A response that stalls after its beginning; `left` resolves when the client disconnects. */
export function endlessAnswer(beginning: string): { readonly response: Response; readonly left: Promise<void> } {
  const { promise: left, resolve } = Promise.withResolvers<void>();
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(beginning)),
    cancel: () => resolve(),
  });
  return { response: new Response(body), left };
}
