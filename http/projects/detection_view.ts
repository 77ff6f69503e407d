import type { Detection } from "../../domain/detection/detection.ts";

/** Converts a detection for the API. Of the image build plan it shows only the base image. */
export function detectionView(detection: Detection) {
  const { image, processWarnings: _, ...found } = detection;
  return { ...found, baseImage: image?.runImage ?? null };
}
