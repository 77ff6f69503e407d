const SHELL_STEP = /^((?:\[[^\]]*\] )?RUN )(?:--\S+ )*(\["\/bin\/sh", ?"-c", ?"(.*)"\])$/s;
const COPY_STEP = /^(?:\[[^\]]*\] )?COPY /;
const SECRETS = /^set -a; \. \/run\/secrets\/\w+; set \+a; /;

/** Returns a generated Dockerfile's step as a person would write it: `RUN npm ci`, without mounts and JSON array. */
export function plainStep(name: string): string {
  // Optional files are written as patterns with a class of one character (`optionalCopyWords`).
  if (COPY_STEP.test(name)) return name.replaceAll(/\[([A-Za-z0-9])\]/g, "$1");
  const [, start, words, inner] = SHELL_STEP.exec(name) ?? [];
  if (words === undefined) return name;
  const command = commandOf(words) ?? inner!;
  return start + command.replace(SECRETS, "").replaceAll(/\s+/g, " ").trim();
}

/** `undefined` if the builder has already expanded variables, which may have inserted quotes. */
function commandOf(words: string): string | undefined {
  try {
    return (JSON.parse(words) as string[])[2];
  } catch {
    return undefined;
  }
}
