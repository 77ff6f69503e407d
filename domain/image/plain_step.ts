const SHELL_STEP = /^((?:\[[^\]]*\] )?RUN )(?:--\S+ )*(\["\/bin\/sh", ?"-c", ?"(.*)"\])$/s;
const COPY_STEP = /^(?:\[[^\]]*\] )?COPY /;
const SECRETS = /^set -a; \. \/run\/secrets\/\w+; set \+a; /;

/** The name of a step of a generated Dockerfile as a person would write it: `RUN npm ci`, without mounts and brackets around it. */
export function plainStep(name: string): string {
  // That files may be missing is said by a pattern of one sign.
  if (COPY_STEP.test(name)) return name.replaceAll(/\[([A-Za-z0-9])\]/g, "$1");
  const [, start, words, inner] = SHELL_STEP.exec(name) ?? [];
  if (words === undefined) return name;
  const command = commandOf(words) ?? inner!;
  return start + command.replace(SECRETS, "").replaceAll(/\s+/g, " ").trim();
}

/** `undefined` where the builder has put in variables already, and with them quotes. */
function commandOf(words: string): string | undefined {
  try {
    return (JSON.parse(words) as string[])[2];
  } catch {
    return undefined;
  }
}
