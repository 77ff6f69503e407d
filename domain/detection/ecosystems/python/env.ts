import type { DetectedVariable } from "../../detection.ts";

/**
 * Reads of a variable: `os.environ["X"]`, `os.getenv("X")`, and calls of libraries, which raise if it is unset:
 * `env("X")`, `env.db("X")`, `config("X")`.
 */
const READ =
  /\b(os\.environ|environ|os\.getenv|getenv|os\.environ\.get|environ\.get|env(?:\.\w{1,20})?|config)([[(])[ \t]{0,9}["']([A-Z][A-Z0-9_]{1,99})["'][ \t]{0,9}([\])),])/g;
const SETTINGS_CLASS = /^class \w{1,99}\((?:\w{1,99}\.)?BaseSettings\b/;
const FIELD_WITHOUT_VALUE = /^(?: {4}|\t)([a-zA-Z]\w{0,99})[ \t]{0,9}:[^=]{1,200}$/;
/** Set by the platform that runs the program. */
const GIVEN = new Set(["PORT", "HOST", "PATH", "HOME", "USER", "PWD", "DJANGO_SETTINGS_MODULE"]);
const MAX_VARIABLES = 100;

/**
 * The environment variables that a Python program reads in the usual ways; required are those without which it fails.
 */
export function variablesRead(texts: readonly (string | undefined)[]): DetectedVariable[] {
  const found = new Map<string, boolean>();
  const read = (key: string, required: boolean) => {
    if (!GIVEN.has(key) && (found.has(key) || found.size < MAX_VARIABLES))
      found.set(key, required || found.get(key) === true);
  };
  for (const text of texts) {
    for (const [, how, , key, end] of (text ?? "").matchAll(READ)) {
      const optional = /get(?:env)?$/.test(how!) || end === ",";
      read(key!, !optional);
    }
    // Without a name, django-environ reads the default variable.
    if (/\benv\.db\(\s{0,9}\)/.test(text ?? "")) read("DATABASE_URL", true);
    for (const key of settingsOf(text ?? "")) read(key, true);
  }
  return Array.from(found, ([key, required]) => ({ key, required }));
}

/** The fields without a default value in pydantic settings classes. */
function settingsOf(text: string): string[] {
  // With a prefix or aliases, a class reads other variables than its fields name.
  if (!text.includes("BaseSettings") || /env_prefix|alias/.test(text)) return [];
  let inside = false;
  return text.split(/\r?\n/).flatMap((line) => {
    if (/^\S/.test(line)) inside = SETTINGS_CLASS.test(line);
    const field = inside ? FIELD_WITHOUT_VALUE.exec(line.slice(0, 300))?.[1] : undefined;
    return field === undefined || field === "model_config" ? [] : [field.toUpperCase()];
  });
}
