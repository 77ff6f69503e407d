import type { Secret } from "../../domain/secret.ts";

/** Input of an image build. */
export interface ImageRequest {
  readonly deploymentId: string;
  readonly projectId: string;
  /** Builds with the same key share what the engine caches of their files; defaults to the project. */
  readonly cacheKey?: string;
  /** The service of the deployment that the image is for. */
  readonly service: string;
  /** The build context folder. Files that its `.dockerignore` matches are not sent. */
  readonly folder: string;
  /** The folder that must contain the build context, with all symlinks resolved. Absent: it may be anywhere. */
  readonly within?: string;
  /** The path of a Dockerfile relative to the folder, or the text of a generated one. */
  readonly dockerfile: { readonly path: string } | GeneratedText;
  /** The stage to stop at. Absent: the last one. */
  readonly target?: string;
  /** Build arguments: visible to everyone who has the image. */
  readonly args: ReadonlyMap<string, string>;
  /**
   * Variables that commands may read as build secrets: each by its name, and all together as the shell file
   * `slipway_env`.
   */
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly signal: AbortSignal;
  /** Runs after the build. Rejects when the image must not be kept after all. */
  readonly confirm?: () => Promise<void>;
  /** Receives a line. A returned promise applies backpressure until it resolves. */
  readonly log: (line: string, stream: "stdout" | "stderr") => void | Promise<void>;
}

/** A generated Dockerfile, which copies its whole build context. */
export interface GeneratedText {
  readonly text: string;
  /** Names of files and folders to leave out of the build context, at any depth. */
  readonly without?: readonly string[];
}

/** A built image. */
export interface BuiltImage {
  /** Its digest: exactly this is run, and rolled back to. */
  readonly image: string;
  /** The TCP port that the image declares, if any. */
  readonly port: number | null;
}

/** The part of an image request that determines the image. */
export type ImageBuildInput = Pick<ImageRequest, "folder" | "within" | "dockerfile" | "target" | "args">;

/** Builds images and stores them by deployment and service. */
export interface ImageBuilder {
  /** Returns whether the engine's builder supports cache and secret mounts. */
  features(): Promise<{ readonly mounts: boolean }>;
  /**
   * Builds an image and stores it under its deployment and service. Replaces the previous one once `confirm` resolved,
   * and leaves it untouched otherwise. Rejects with an `invalid` failure: code `build_failed`, naming the failed step;
   * `base_image_missing` when a base image is unavailable; `link_outside` for a Dockerfile or a symlink that leads out
   * of the folder, or for a folder that is not `within`. Rejects with an `unavailable` failure, code `engine_away`,
   * when the engine does not answer. Aborting ends the build on the engine before it rejects with the signal's reason.
   * No secret ends up in the image, its history or the log.
   */
  build(request: ImageRequest): Promise<BuiltImage>;
  /**
   * Returns a digest of all inputs of a build. It differs exactly when a sent file, its mode, the Dockerfile, the
   * target or an argument differs. Rejects like `build` for a symlink that leads out of the folder.
   */
  identify(buildPlan: ImageBuildInput): Promise<string>;
}
