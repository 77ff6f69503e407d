import type { EngineApi } from "../engine/engine_api.ts";

/** An image's defaults for its containers. */
export interface ImageConfig {
  readonly Entrypoint: readonly string[] | null;
  readonly Cmd: readonly string[] | null;
  /** Declared volumes by path: folders whose content should outlive a container. */
  readonly Volumes: Readonly<Record<string, unknown>> | null;
}

/** Reads the configuration of an image from the engine. */
export async function imageConfig(engine: EngineApi, image: string): Promise<ImageConfig> {
  const { Config } = await engine.json<{ readonly Config: ImageConfig }>("GET", `/images/${image}/json`);
  return Config;
}
