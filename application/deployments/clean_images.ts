import { isEngineAway } from "../../domain/failure.ts";
import type { ReleaseFolders } from "../../ports/release_folders.ts";
import type { ReleaseImages } from "../../ports/release_images.ts";

/** What builds may keep to be quicker the next time. */
const CACHE_BYTES = 10 * 1_024 ** 3;

export interface CleanImagesPorts {
  readonly releaseFolders: ReleaseFolders;
  readonly releaseImages: ReleaseImages;
}

/** Removes the images whose release folder is gone, with the layers and caches that nobody needs; while no engine answers there is nothing to do. */
export function cleanImages({ releaseFolders, releaseImages }: CleanImagesPorts) {
  return async function (): Promise<void> {
    try {
      const kept = await releaseImages.list();
      for (const deploymentId of new Set(kept.map((image) => image.deploymentId))) {
        if (!(await releaseFolders.find(deploymentId))) await releaseImages.remove(deploymentId);
      }
      await releaseImages.trim(CACHE_BYTES);
    } catch (error) {
      if (!isEngineAway(error)) throw error;
    }
  };
}
