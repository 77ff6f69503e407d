import type { Detection } from "../../domain/detection/detection.ts";

/** What is told of a detection: of how an image would be made, only what it would run on. */
export function detectionView({ image, ...found }: Detection) {
  return { ...found, baseImage: image?.runImage ?? null };
}
