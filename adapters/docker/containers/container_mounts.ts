import type { RunnableImage, RunnableMount, RunRequest } from "../../../ports/services/runtime.ts";
import { openRecipe, recipeTargets } from "./adopted_recipe.ts";
import type { EngineMount } from "./container_request.ts";
import type { DockerVolumes } from "./docker_volumes.ts";
import type { ImageConfig } from "../engine/images.ts";

/** Returns a container's mounts in the engine's format; creates volumes of its scope and refuses those of others. */
export async function containerMounts(
  { scope, service, runs }: RunRequest<RunnableImage>,
  image: ImageConfig,
  volumes: DockerVolumes,
): Promise<readonly EngineMount[]> {
  const requested = runs.mounts ?? [];
  const adopted = runs.container?.recipe ? recipeTargets(openRecipe(runs.container.recipe)) : [];
  const taken = [...requested.map(({ target }) => target), ...adopted];
  const own = runs.container ? declaredVolumes(image, service, taken) : [];
  const mounts: EngineMount[] = [];
  for (const mount of [...requested, ...own]) mounts.push(await engineMount(mount, scope, volumes));
  return mounts;
}

/**
 * Returns the volumes that an image declares where nothing else is mounted. On its own, the engine would keep their
 * content for one container only.
 */
function declaredVolumes(
  { Volumes }: ImageConfig,
  service: string,
  targets: readonly string[],
): readonly RunnableMount[] {
  const taken = new Set(targets.map(plainPath));
  return Object.keys(Volumes ?? {})
    .filter((target) => !taken.has(plainPath(target)))
    .map((target) => ({ kind: "volume", name: `${service}:${plainPath(target)}`, target, readOnly: false }));
}

async function engineMount(mount: RunnableMount, scope: string, volumes: DockerVolumes): Promise<EngineMount> {
  const { target: Target } = mount;
  switch (mount.kind) {
    case "volume":
      return {
        Type: "volume",
        Source: await volumes.ensure(scope, mount.name),
        Target,
        ReadOnly: mount.readOnly,
      };
    case "external":
      return { Type: "volume", Source: await volumes.external(scope, mount.name), Target, ReadOnly: mount.readOnly };
    case "path":
      return { Type: "bind", Source: mount.path, Target, ReadOnly: mount.readOnly };
    case "memory":
      return { Type: "tmpfs", Target, ...(mount.bytes !== null && { TmpfsOptions: { SizeBytes: mount.bytes } }) };
  }
}

function plainPath(path: string): string {
  return path.replaceAll(/\/+/g, "/").replace(/(?<=.)\/$/, "");
}
