import type { DetectedVariable } from "../../detection.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { withoutComments } from "../../text/source_text.ts";

/** Settings files of JVM frameworks, in the resources folder of a project. */
export const JVM_SETTINGS = ["application.properties", "application.yml", "application.yaml", "application.conf"];
/** `${NAME}`, with a default as `${NAME:value}`, or optional as `${?NAME}`. */
const REFERENCE = /\$\{(\??)([A-Z][A-Z0-9_]{1,60})(:[^}\n]{0,200})?\}/g;
/** Set by the platform. */
const GIVEN = new Set(["PORT", "HOME", "HOSTNAME", "USER", "PATH"]);

/** The environment variables that the settings of a project refer to. */
export function settingsVariables(folder: ProjectFolder): DetectedVariable[] {
  const found = new Map<string, boolean>();
  for (const name of JVM_SETTINGS) {
    const text = withoutComments(folder.text(`src/main/resources/${name}`) ?? "", "#");
    for (const [, optional, key = "", preset] of text.matchAll(REFERENCE)) {
      const required = optional === "" && preset === undefined;
      if (!GIVEN.has(key)) found.set(key, required || found.get(key) === true);
    }
  }
  return [...found].map(([key, required]) => ({ key, required }));
}
