import type { EngineScene } from "../apps/engine_scene.ts";

/** Records, from now on, every start of a service while another instance of it runs in the same scope. */
export function sideBySide({ memory: { runtime } }: EngineScene, service: string): readonly string[] {
  const found: string[] = [];
  const start = runtime.start.bind(runtime);
  runtime.start = async (request) => {
    const others = runtime.named(request.scope, service);
    if (request.service === service && others.length > 0) found.push(`${request.instanceId} beside ${others.join()}`);
    return start(request);
  };
  return found;
}
