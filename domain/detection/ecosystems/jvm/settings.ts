import type { DetectedVariable } from "../../detection.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { withoutComments } from "../../text/source_text.ts";

/** Files of settings that frameworks of the Java world read, in the folder of a project's resources. */
export const JVM_SETTINGS = ["application.properties", "application.yml", "application.yaml", "application.conf"];
/** `${NAME}`, with a value to fall back on as `${NAME:value}`, or left out when it is not set as `${?NAME}`. */
const REFERENCE = /\$\{(\??)([A-Z][A-Z0-9_]{1,60})(:[^}\n]{0,200})?\}/g;
/** Set by the platform. */
const GIVEN = new Set(["PORT", "HOME", "HOSTNAME", "USER", "PATH"]);

/** The variables that the settings of a project refer to. */
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
