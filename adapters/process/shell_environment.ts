import type { Secret } from "../../domain/secret.ts";
import { shellWord } from "../../domain/shell_word.ts";
import { invalidField } from "../../domain/failure.ts";
import type { Surroundings } from "./sandbox.ts";
import { SYSTEM_PATH } from "./choose_sandbox.ts";

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What a program finds in its environment beside what was given. */
export interface OwnVariables {
  /** Unless given. */
  readonly defaults: Readonly<Record<string, string>>;
  /** Whatever was given. */
  readonly fixed: Readonly<Record<string, string>>;
}

/** Reads its own text from standard input, so that no value is ever an argument, and becomes the command. */
export const READING_SHELL = ["/bin/sh", "-c", 'eval "$(cat)"', "sh"] as const;

/**
 * The text for `READING_SHELL` that sets exactly this environment. It reaches the shell inside the sandbox: nothing that runs with
 * more rights than the program ever has one of these variables, `LD_PRELOAD` say.
 */
export function environmentText(
  given: ReadonlyMap<string, Secret>,
  { home, programs }: Surroundings,
  { defaults, fixed }: OwnVariables,
): string {
  const values = new Map(Object.entries(defaults));
  for (const [name, value] of given) values.set(name, value.reveal());
  values.set("PATH", [values.get("PATH"), programs, SYSTEM_PATH.PATH, `${programs}/last`].filter(Boolean).join(":"));
  values.set("HOME", home);
  for (const [name, value] of Object.entries(fixed)) values.set(name, value);
  const lines = Array.from(values, ([name, value]) => `export ${checked(name)}=${shellWord(value)}`);
  // Last, so that a text cut short runs nothing.
  return ["unset OLDPWD", ...lines, 'exec /bin/sh -c "$1" </dev/null', ""].join("\n");
}

function checked(name: string): string {
  if (NAME.test(name)) return name;
  throw invalidField("environment", "use letters, digits and _ in names, not beginning with a digit");
}
