import { isEngineAway } from "../../../domain/failure.ts";
import type { ReleaseFolders } from "../../../ports/deployments/release_folders.ts";
import type { ReleaseImages } from "../../../ports/deployments/release_images.ts";

export interface CleanImagesPorts {
  readonly releaseFolders: ReleaseFolders;
  readonly releaseImages: ReleaseImages;
}

/**
 * Removes the images whose release folder is gone, unused layers, and build cache beyond `maxCacheBytes`. Does nothing
 * while no engine answers.
 */
export function cleanImages(
  { releaseFolders, releaseImages }: CleanImagesPorts,
  // Off by default: the engine takes long to scan the build cache, and a deployment should not wait for it.
  maxCacheBytes = Number.POSITIVE_INFINITY,
) {
  return async function (): Promise<void> {
    try {
      const kept = await releaseImages.list();
      for (const deploymentId of new Set(kept.map((image) => image.deploymentId))) {
        if (!(await releaseFolders.find(deploymentId))) await releaseImages.remove(deploymentId);
      }
      await releaseImages.trim(maxCacheBytes);
    } catch (error) {
      if (!isEngineAway(error)) throw error;
    }
  };
}
