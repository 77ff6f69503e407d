import { invalid } from "../failure.ts";

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\x00-\x1f\x7f]/;

/** Words as a JSON array, which no character of theirs can leave: quotes, line breaks, `$`, backslashes and `<<` are only themselves. */
export function jsonWords(words: readonly string[]): string {
  // A newer builder looks for here-documents before it knows what a line is.
  return JSON.stringify(words).replaceAll("<<", "<\\u003c");
}

/** A shell command as the arguments of `RUN` or `CMD`. */
export function shellWords(command: string): string {
  return jsonWords(["/bin/sh", "-c", command]);
}

/** Arguments of `COPY` for files that are called exactly so; the last word is where they go. */
export function copyWords(sources: readonly string[], target: string): string {
  return jsonWords([...sources.map((path) => unexpanded(unmatched(path))), unexpanded(target)]);
}

/** The same for files that may be missing, for builders with mounts: as patterns, which may match nothing there. */
export function optionalCopyWords(sources: readonly string[], target: string): string {
  // The sign must be an early one: folders before the first pattern must exist.
  const patterns = sources.map((path) => unmatched(path).replace(/[A-Za-z0-9]/, "[$&]"));
  return jsonWords([...patterns.map(unexpanded), unexpanded(target)]);
}

/** A value for `ENV`, `ARG` or `WORKDIR`; throws an `invalid` failure for a text that a line cannot hold, called `what` in it. */
export function quotedValue(value: string, what: string): string {
  if (CONTROL.test(value)) {
    const reason = `${what} holds a line break or another control character`;
    throw invalid(
      "dockerfile_impossible",
      `Cannot make a Dockerfile: ${reason}. Rename it, or bring your own Dockerfile`,
    );
  }
  return `"${value.replace(/[\\"$]/g, "\\$&")}"`;
}

/** A path in which nothing is a pattern. A class of one character means it everywhere, a backslash before it does not. */
function unmatched(path: string): string {
  return path.replace(/[*?[\\]/g, (sign) => (sign === "\\" ? "[\\\\]" : `[${sign}]`));
}

/** A word that stays as it is when variables are put in and quotes taken off. */
function unexpanded(word: string): string {
  return word.replace(/[\\"'$]/g, "\\$&");
}
