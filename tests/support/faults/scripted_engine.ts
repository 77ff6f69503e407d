import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AnswerLimits, EngineApi } from "../../../adapters/docker/engine/engine_api.ts";

/** Something that answers as an engine would, as far as a test has it do so. */
export interface ScriptedEngine extends AsyncDisposable {
  readonly engine: EngineApi;
  /** Every question so far, as `DELETE /images/x`. */
  readonly asked: string[];
}

/** Opens one; `undefined` is no answer at all, for as long as it is open. */
export async function scriptedEngine(
  answer: (question: string) => Response | undefined,
  limits: AnswerLimits,
): Promise<ScriptedEngine> {
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  const socket = join(folder, "engine.sock");
  const asked: string[] = [];
  const server = Bun.serve({
    unix: socket,
    fetch({ method, url }) {
      const question = `${method} ${new URL(url).pathname.replace(/^\/v[\d.]+/, "")}`;
      asked.push(question);
      return answer(question) ?? new Promise<Response>(() => {});
    },
  });
  return {
    engine: new EngineApi(`unix://${socket}`, limits),
    asked,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await rm(folder, { recursive: true });
    },
  };
}

/** An answer that begins and does not go on, and whether whoever asked has hung up. */
export function endlessAnswer(beginning: string): { readonly response: Response; readonly left: Promise<void> } {
  const { promise: left, resolve } = Promise.withResolvers<void>();
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(beginning)),
    cancel: () => resolve(),
  });
  return { response: new Response(body), left };
}
