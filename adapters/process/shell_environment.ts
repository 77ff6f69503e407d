import type { Secret } from "../../domain/secret.ts";
import { shellWord } from "../../domain/shell_word.ts";
import { invalid } from "../../domain/failure.ts";
import type { Surroundings } from "./sandbox.ts";
import { SYSTEM_PATH } from "./choose_sandbox.ts";

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Environment variables that Slipway sets besides the given ones. */
export interface OwnVariables {
  /** Apply unless given. */
  readonly defaults: Readonly<Record<string, string>>;
  /** Override given ones. */
  readonly fixed: Readonly<Record<string, string>>;
}

/** A shell that reads its script from stdin, so that no value ever appears in argv, and then execs the command. */
export const READING_SHELL = ["/bin/sh", "-c", 'eval "$(cat)"', "sh"] as const;

/**
 * Returns the script for `READING_SHELL` that sets exactly this environment. The shell reads it inside the sandbox, so
 * that no process with more privileges than the program ever has these variables, for example `LD_PRELOAD`.
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
  // The exec comes last, so that a truncated script runs nothing.
  return ["unset OLDPWD", ...lines, 'exec /bin/sh -c "$1" </dev/null', ""].join("\n");
}

function checked(name: string): string {
  if (NAME.test(name)) return name;
  const next = 'Use letters, digits and _ in its name, or set the runtime of the project to "docker"';
  throw invalid("variable_unsupported", `Cannot run this as a process: no shell can set its variable ${name}. ${next}`);
}
