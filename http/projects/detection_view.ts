import type { Detection } from "../../domain/detection/detection.ts";

/** What is told of a detection: of how an image would be made, only what it would run on. */
export function detectionView(detection: Detection) {
  const { image, processWarnings: _, ...found } = detection;
  return { ...found, baseImage: image?.runImage ?? null };
}
