import type { Secret } from "../../domain/secret.ts";

/** What an image is made from. */
export interface ImageRequest {
  readonly deploymentId: string;
  readonly projectId: string;
  /** Which of the deployment's services it is for. */
  readonly service: string;
  /** The folder whose files the build sees; what its `.dockerignore` names is not sent. */
  readonly folder: string;
  /** The folder that this one has to lie in with every link resolved; anywhere without. */
  readonly within?: string;
  /** A Dockerfile in that folder, relative to it, or the text of one that is made for it. */
  readonly dockerfile: { readonly path: string } | GeneratedText;
  /** The stage to stop at; the last one without. */
  readonly target?: string;
  /** Build arguments: seen by everybody who has the image. */
  readonly args: ReadonlyMap<string, string>;
  /** Variables that commands may read as build secrets: each by its name, all together as the shell file `slipway_env`. */
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly signal: AbortSignal;
  /** Rejects when the image must not be kept after all; asked when it was built. */
  readonly confirm?: () => Promise<void>;
  /** Takes a line; a promise asks to read on only once it resolved. */
  readonly log: (line: string, stream: "stdout" | "stderr") => void | Promise<void>;
}

/** A Dockerfile that was made, which copies everything it is given. */
export interface GeneratedText {
  readonly text: string;
  /** Names of files and folders that it is not given, wherever they lie. */
  readonly without?: readonly string[];
}

/** An image as it was built. */
export interface BuiltImage {
  /** Its digest: what is run, and gone back to, is exactly this. */
  readonly image: string;
  /** The TCP port that it says it listens on, if it says one. */
  readonly port: number | null;
}

/** What an image is made from, without how that is told. */
export type ImageBuildInput = Pick<ImageRequest, "folder" | "within" | "dockerfile" | "target" | "args">;

/** Builds images that are known by their deployment and service afterwards. */
export interface ImageBuilder {
  /** What the engine's builder understands: mounts of caches and secrets, or neither. */
  features(): Promise<{ readonly mounts: boolean }>;
  /**
   * Builds and keeps an image under its deployment and service; one that was there is replaced, once `confirm` agreed, and not touched otherwise. Rejects with an `invalid` failure, code `build_failed`, naming the step
   * that failed, `base_image_missing` when an image it stands on cannot be had, `link_outside` for a Dockerfile or a link that leads out of the folder, or for a folder that is not within; with an
   * `unavailable` one, code `engine_away`, when the engine does not answer. Aborting ends the build on the engine before it rejects with the signal's reason.
   * No secret is in the image, its history or what is logged.
   */
  build(request: ImageRequest): Promise<BuiltImage>;
  /**
   * A digest of all that a build would see: it differs exactly when a file that would be sent, its mode, the Dockerfile, the target or an argument does. Rejects as `build` does
   * for a link that leads out of the folder.
   */
  identify(buildPlan: ImageBuildInput): Promise<string>;
}
