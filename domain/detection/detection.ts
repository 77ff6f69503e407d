import type { ImageRecipe } from "./image_recipe.ts";

/** What a project was detected to be and how to build it; `null` means unknown. */
export interface Detection {
  readonly language: string | null;
  /** The version that the project requires, as in its image tag (`22`, `3.12`), else the default. */
  readonly languageVersion: string | null;
  readonly framework: string | null;
  readonly packageManager: string | null;
  /** Only when the project specifies it. */
  readonly packageManagerVersion: string | null;
  readonly installCommand: string | null;
  readonly buildCommand: string | null;
  readonly startCommand: string | null;
  /** Where the build writes its output, relative to the root directory; `.` is that folder itself. */
  readonly outputDirectory: string | null;
  /** The project's folder inside the inspected one, `null` for all of it; all other paths are relative to it. */
  readonly rootDirectory: string | null;
  readonly port: number | null;
  readonly projectType: "app" | "static" | "docker" | "services";
  readonly dockerfile: string | null;
  readonly composeFile: string | null;
  /** How to build it into an image, if its ecosystem knows. */
  readonly image: ImageRecipe | null;
  readonly services: readonly DetectedService[];
  readonly env: readonly DetectedVariable[];
  /** Sentences for the user. */
  readonly warnings: readonly string[];
  /** Warnings that apply only when the project runs as a process, with the detected start command. */
  readonly processWarnings: readonly string[];
}

/** One of several services that are deployed together. */
export interface DetectedService {
  readonly name: string;
  /** Where it is built; `null` for the whole project. */
  readonly rootDirectory: string | null;
  /** From a compose file: the Dockerfile inside its folder, the image, and the port in the container. */
  readonly dockerfile?: string;
  readonly image?: string;
  readonly port?: number;
}

/** An environment variable that the project reads. */
export interface DetectedVariable {
  readonly key: string;
  /** Whether the project provides no usable value for it. */
  readonly required: boolean;
}

/** A detection with everything unknown. */
export const NOTHING_DETECTED: Detection = {
  language: null,
  languageVersion: null,
  framework: null,
  packageManager: null,
  packageManagerVersion: null,
  installCommand: null,
  buildCommand: null,
  startCommand: null,
  outputDirectory: null,
  rootDirectory: null,
  port: null,
  projectType: "app",
  dockerfile: null,
  composeFile: null,
  image: null,
  services: [],
  env: [],
  warnings: [],
  processWarnings: [],
};

/** Returns whether enough was detected to serve something. */
export function isRunnable({ projectType, startCommand }: Detection): boolean {
  return projectType !== "app" || startCommand !== null;
}
