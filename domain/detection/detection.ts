import type { ImageRecipe } from "./image_recipe.ts";

/** What a project was found to be and how it would be built; `null` is what could not be told. */
export interface Detection {
  readonly language: string | null;
  /** The version that the project asks for, as its image is tagged: `22`, `3.12`; else the one used by default. */
  readonly languageVersion: string | null;
  readonly framework: string | null;
  readonly packageManager: string | null;
  /** Only when the project says which. */
  readonly packageManagerVersion: string | null;
  readonly installCommand: string | null;
  readonly buildCommand: string | null;
  readonly startCommand: string | null;
  /** Where the build leaves its result, relative to the root directory; `.` is that folder itself. */
  readonly outputDirectory: string | null;
  /** Folder of the project inside what was given, `null` for the whole; all other paths are relative to it. */
  readonly rootDirectory: string | null;
  readonly port: number | null;
  readonly projectType: "app" | "static" | "docker" | "services";
  readonly dockerfile: string | null;
  readonly composeFile: string | null;
  /** How it would be put into an image, where its ecosystem knows. */
  readonly image: ImageRecipe | null;
  readonly services: readonly DetectedService[];
  readonly env: readonly DetectedVariable[];
  /** Sentences for a person. */
  readonly warnings: readonly string[];
  /** Warnings that count only where the project runs as a process, started as found. */
  readonly processWarnings: readonly string[];
}

/** One of several parts that are deployed together. */
export interface DetectedService {
  readonly name: string;
  /** Where it is built, `null` for the whole project. */
  readonly rootDirectory: string | null;
  /** What a compose file says about it: the file that it is built by, in its folder; the image that it is; the port inside. */
  readonly dockerfile?: string;
  readonly image?: string;
  readonly port?: number;
}

/** A variable that the project says it reads. */
export interface DetectedVariable {
  readonly key: string;
  /** Whether the project gives no usable value for it. */
  readonly required: boolean;
}

/** A project of which nothing could be told. */
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

/** Tells whether enough was found to serve something. */
export function isRunnable({ projectType, startCommand }: Detection): boolean {
  return projectType !== "app" || startCommand !== null;
}
