const ARGUMENT = /^[ \t]*ARG[ \t]+([A-Za-z_]\w*)/gim;

/** The names of the arguments that a Dockerfile declares. */
export function dockerfileArguments(text: string): ReadonlySet<string> {
  return new Set(Array.from(text.matchAll(ARGUMENT), ([, name]) => name!));
}
