const ARGUMENT = /^[ \t]*ARG[ \t]+((?:[^\\\n]|\\[^\n]|\\\n)*)/gim;
const QUOTED = /"(?:[^"\\]|\\.)*"|'[^']*'/gs;
const NAME = /^([A-Za-z_]\w*)(?:=|$)/;

/** Returns the names of the build arguments (`ARG`) that a Dockerfile declares. */
export function dockerfileArguments(text: string): ReadonlySet<string> {
  const declared = Array.from(text.replaceAll("\r\n", "\n").matchAll(ARGUMENT), ([, rest]) => rest!);
  const words = declared.flatMap((rest) => rest.replaceAll(QUOTED, "").split(/[\s\\]+/));
  return new Set(words.flatMap((word) => NAME.exec(word)?.[1] ?? []));
}
