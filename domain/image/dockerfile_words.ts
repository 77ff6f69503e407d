import { invalid } from "../failure.ts";

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\x00-\x1f\x7f]/;

/** Formats words as a JSON array; quotes, line breaks, `$`, backslashes and `<<` are literal and cannot break out. */
export function jsonWords(words: readonly string[]): string {
  // Newer builders look for here-documents before they parse the line.
  return JSON.stringify(words).replaceAll("<<", "<\\u003c");
}

/** Formats a shell command as the arguments of `RUN` or `CMD`. */
export function shellCommand(command: string): string {
  return jsonWords(["/bin/sh", "-c", command]);
}

/** Formats the arguments of `COPY` for files with exactly these names; the last word is the target. */
export function copyWords(sources: readonly string[], target: string): string {
  return jsonWords([...sources.map((path) => unexpanded(unmatched(path))), unexpanded(target)]);
}

/** The same for files that may be missing, for builders with mounts: as patterns, which may match nothing there. */
export function optionalCopyWords(sources: readonly string[], target: string): string {
  // The pattern must come early in the path: folders before the first pattern must exist.
  const patterns = sources.map((path) => unmatched(path).replace(/[A-Za-z0-9]/, "[$&]"));
  return jsonWords([...patterns.map(unexpanded), unexpanded(target)]);
}

/** Quotes a value for `ENV`, `ARG` or `WORKDIR`; throws `invalid`, naming `what`, for a control character. */
export function quotedValue(value: string, what: string): string {
  if (CONTROL.test(value)) {
    const reason = `${what} contains a line break or another control character`;
    throw invalid(
      "dockerfile_impossible",
      `Cannot generate a Dockerfile: ${reason}. Rename it, or add your own Dockerfile`,
    );
  }
  return `"${value.replace(/[\\"$]/g, "\\$&")}"`;
}

/** Escapes pattern characters in a path: all builders take a class of one character literally, but not a backslash. */
function unmatched(path: string): string {
  return path.replace(/[*?[\\]/g, (sign) => (sign === "\\" ? "[\\\\]" : `[${sign}]`));
}

/** Escapes a word against variable expansion and quote removal. */
function unexpanded(word: string): string {
  return word.replace(/[\\"'$]/g, "\\$&");
}
