import type { DetectedVariable } from "../../detection.ts";

/** `os.environ["X"]`, and what the libraries for it raise without: `env("X")`, `env.db("X")`, `config("X")`. */
const READ =
  /\b(os\.environ|environ|os\.getenv|getenv|os\.environ\.get|environ\.get|env(?:\.\w{1,20})?|config)([[(])[ \t]{0,9}["']([A-Z][A-Z0-9_]{1,99})["'][ \t]{0,9}([\])),])/g;
const SETTINGS_CLASS = /^class \w{1,99}\((?:\w{1,99}\.)?BaseSettings\b/;
const FIELD_WITHOUT_VALUE = /^(?: {4}|\t)([a-zA-Z]\w{0,99})[ \t]{0,9}:[^=]{1,200}$/;
/** Set by whoever runs the program. */
const GIVEN = new Set(["PORT", "HOST", "PATH", "HOME", "USER", "PWD", "DJANGO_SETTINGS_MODULE"]);
const MAX_VARIABLES = 100;

/** The variables that a Python program reads, by the usual ways of reading them; those without which it fails are required. */
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
    // Without a name, django-environ takes the usual one.
    if (/\benv\.db\(\s{0,9}\)/.test(text ?? "")) read("DATABASE_URL", true);
    for (const key of settingsOf(text ?? "")) read(key, true);
  }
  return Array.from(found, ([key, required]) => ({ key, required }));
}

/** The fields without a value of pydantic's classes of settings. */
function settingsOf(text: string): string[] {
  // With a prefix or other names for its fields, a class reads other variables than it says.
  if (!text.includes("BaseSettings") || /env_prefix|alias/.test(text)) return [];
  let inside = false;
  return text.split(/\r?\n/).flatMap((line) => {
    if (/^\S/.test(line)) inside = SETTINGS_CLASS.test(line);
    const field = inside ? FIELD_WITHOUT_VALUE.exec(line.slice(0, 300))?.[1] : undefined;
    return field === undefined || field === "model_config" ? [] : [field.toUpperCase()];
  });
}
