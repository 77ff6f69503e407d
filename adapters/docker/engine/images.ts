import type { EngineApi, EngineRequest } from "./engine_api.ts";

/** An image as the engine reports it. */
export interface FoundImage {
  readonly Id: string;
  readonly RepoTags?: readonly string[] | null;
  readonly RepoDigests?: readonly string[] | null;
  readonly Config?: ImageConfig | null;
}

/** An image's defaults for its containers. */
export interface ImageConfig {
  readonly Entrypoint?: readonly string[] | null;
  readonly Cmd?: readonly string[] | null;
  readonly ExposedPorts?: Readonly<Record<string, unknown>> | null;
  /** Declared volumes by path: folders whose content should outlive a container. */
  readonly Volumes?: Readonly<Record<string, unknown>> | null;
}

/** An image as the engine lists it. */
export interface ListedImage extends Omit<FoundImage, "Config"> {
  readonly Size: number;
}

/** Returns all names of an image, by tag or by digest. */
export function namesOf({ RepoTags, RepoDigests }: FoundImage): string[] {
  return [...(RepoTags ?? []), ...(RepoDigests ?? [])].filter((name) => !name.startsWith("<none>"));
}

/** Returns the lowest TCP port that an image exposes. */
export function exposedPort({ Config }: FoundImage): number | null {
  const ports = Object.keys(Config?.ExposedPorts ?? {}).filter(
    (port) => !port.endsWith("/udp") && !port.endsWith("/sctp"),
  );
  return ports.length === 0 ? null : Math.min(...ports.map((port) => Number.parseInt(port, 10)));
}

/** Lists the images on the engine that match filters. */
export function listImages(
  engine: EngineApi,
  filters: Readonly<Record<string, readonly string[]>> = {},
  options: Pick<EngineRequest, "signal"> = {},
): Promise<readonly ListedImage[]> {
  return engine.json("GET", "/images/json", { ...options, query: { filters: JSON.stringify(filters) } });
}

/** Inspects an image by name or digest; `undefined` if there is none. */
export function inspectImage(
  engine: EngineApi,
  image: string,
  options: Pick<EngineRequest, "signal"> = {},
): Promise<FoundImage | undefined> {
  return engine.known<FoundImage>("GET", `/images/${image}/json`, options);
}

/** Adds a name to an image. */
export async function tagImage(engine: EngineApi, image: string, name: string): Promise<void> {
  const [repo, tag] = name.split(":");
  await engine.request("POST", `/images/${image}/tag`, { query: { repo, tag } });
}

/** Reads the configuration of an image; throws the engine's refusal if there is none. */
export async function imageConfig(engine: EngineApi, image: string): Promise<ImageConfig> {
  const { Config } = await engine.json<FoundImage>("GET", `/images/${image}/json`);
  return Config ?? {};
}
