import type { ProjectSettings } from "../../domain/projects/project.ts";

/** The settings that mean the same in the cloud. Those about this machine, or its connection to a git host, do not. */
const HANDED_OVER = [
  "gitOwner",
  "gitRepo",
  "gitBranch",
  "gitUrl",
  "framework",
  "packageManager",
  "installCommand",
  "buildCommand",
  "startCommand",
  "outputDirectory",
  "rootDirectory",
  "dockerfile",
  "buildTarget",
  "buildArgs",
  "port",
  "projectType",
  "services",
  "publicEndpoints",
  "rollbackWindow",
  "healthPath",
  "requireApproval",
] as const satisfies readonly (keyof ProjectSettings)[];

/** Returns the settings for the cloud's copy of a project; those that are not set are reset there. */
export function cloudSettings(settings: ProjectSettings): Readonly<Record<string, unknown>> {
  return Object.fromEntries(HANDED_OVER.map((name) => [name, settings[name] ?? null]));
}
