import type { RunnableImage } from "../../../ports/services/runtime.ts";
import type { EngineApi } from "./engine_api.ts";
import type { ImageConfig } from "./images.ts";

/** Init programs that expect to be PID 1 themselves. */
const OWN_INIT = /(^|\/)(init|tini|tini-static|dumb-init|catatonit|systemd|s6-svscan|my_init)$/;

/** Decides which containers get the engine's init as PID 1: it reaps orphans and forwards signals. */
export class EngineInit {
  readonly #engine: EngineApi;
  #isThere: Promise<boolean> | undefined;

  constructor(engine: EngineApi) {
    this.#engine = engine;
  }

  /** All do, unless their spec decides otherwise, they bring their own init, or the engine has none. */
  async isFor({ command, container }: RunnableImage, image: ImageConfig): Promise<boolean> {
    if (container && container.init !== null) return container.init;
    const entrypoint = container?.entrypoint ?? image.Entrypoint ?? [];
    const words = container?.command ?? (container?.entrypoint ? [] : (image.Cmd ?? []));
    const [program = ""] = command === null ? [...entrypoint, ...words] : [];
    if (OWN_INIT.test(program)) return false;
    this.#isThere ??= hasInit(this.#engine).catch((error: unknown) => {
      this.#isThere = undefined;
      throw error;
    });
    return this.#isThere;
  }
}

async function hasInit(engine: EngineApi): Promise<boolean> {
  const { Components = [] } = await engine.json<{ Components?: readonly { Name: string; Version: string }[] }>(
    "GET",
    "/version",
  );
  return Components.some(({ Name, Version }) => Name === "docker-init" && /\d/.test(Version));
}
