import type { DetectedVariable } from "./detection.ts";
import { type Refinement, warned } from "./ecosystem.ts";

const NAMES = [".env.example", ".env.sample", ".env.template", ".env.dist", ".env.local.example", "env.example"];
const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$/;
const PLACEHOLDER = /^(?:change[-_ ]?me|your[-_ ].*|replace[-_ ].*|<.*>|\.{3}|x{3,}|todo)$/i;

/** Reads the environment variables of a project from its example env file. */
export const envExample: Refinement = {
  manifests: NAMES,
  refine(folder, found) {
    const env = new Map<string, DetectedVariable>((found?.env ?? []).map((variable) => [variable.key, variable]));
    const known = new Set<string>();
    for (const path of NAMES) {
      for (const line of (folder.text(path) ?? "").split(/\r?\n/)) {
        const [, key, value = ""] = LINE.exec(line) ?? [];
        if (key === undefined || known.has(key)) continue;
        known.add(key);
        // A variable that the ecosystem requires stays required, whatever its example value.
        env.set(key, { key, required: isMissing(value) || env.get(key)?.required === true });
      }
    }
    const withEnv = env.size === 0 ? found : { ...found, env: [...env.values()] };
    // Symfony's `.env` holds defaults and is meant to be committed.
    if (!folder.has(".env") || withEnv === undefined || withEnv.framework === "symfony") return withEnv;
    return warned(
      withEnv,
      "Cannot protect secrets that are in the project: set the values of .env as variables instead",
    );
  },
};

function isMissing(written: string): boolean {
  const value = written
    .replace(/(?:^|\s)#.*$/, "")
    .trim()
    .replace(/^(["'])(.*)\1$/, "$2");
  return value === "" || PLACEHOLDER.test(value);
}
