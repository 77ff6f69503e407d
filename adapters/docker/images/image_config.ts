import type { EngineApi } from "../engine/engine_api.ts";

/** What an image says about the containers made from it. */
export interface ImageConfig {
  readonly Entrypoint: readonly string[] | null;
  readonly Cmd: readonly string[] | null;
  /** The folders whose content is to outlive a container, by path. */
  readonly Volumes: Readonly<Record<string, unknown>> | null;
}

/** Asks the engine what an image says. */
export async function imageConfig(engine: EngineApi, image: string): Promise<ImageConfig> {
  const { Config } = await engine.json<{ readonly Config: ImageConfig }>("GET", `/images/${image}/json`);
  return Config;
}
