import { shown } from "../../../domain/archive/refusal.ts";
import { invalid } from "../../../domain/failure.ts";
import { fixedPart, type IgnorePattern, ignorePattern } from "./ignore_pattern.ts";

/**
 * Limits the patterns, because each file is matched against all of them on a server that has other requests to handle.
 */
const MAX_CHARACTERS = 65_536;

/** The result for a path: whether it is ignored, and which patterns it matches, for use on what lies below it. */
export interface Verdict {
  readonly ignored: boolean;
  readonly matched: readonly boolean[];
}

/**
 * The rules of a `.dockerignore`: the last pattern that matches a path, or one of its parent folders, decides. Throws
 * an `invalid` failure, code `build_failed`, for a pattern that Docker would refuse, and for patterns of more than 64
 * KB.
 */
export class DockerIgnore {
  readonly #patterns: readonly IgnorePattern[];
  /** Paths that exceptions are limited to; `undefined` if they may match anywhere. */
  readonly #exceptions: readonly string[] | undefined;

  constructor(text: string) {
    this.#patterns = patternsOf(text);
    const exceptions = this.#patterns.filter(({ exception }) => exception).map(fixedPart);
    this.#exceptions = exceptions.includes(undefined) ? undefined : (exceptions as string[]);
  }

  /** Judges a relative path, given the verdict on its parent folder; none in the root. */
  judge(path: string, folder?: Verdict): Verdict {
    let ignored = false;
    const matched = this.#patterns.map((pattern, index) => {
      const already = folder?.matched[index] ?? false;
      // Like Docker, skips a pattern that cannot change the result, even for what lies below.
      const matches = already || (pattern.exception === ignored && pattern.matches(path));
      if (matches) ignored = !pattern.exception;
      return matches;
    });
    return { ignored, matched };
  }

  /** Whether an exception may include something below an ignored folder again. */
  mayTakeBack(folder: string): boolean {
    return this.#exceptions?.some((exception) => `${exception}/`.startsWith(`${folder}/`)) ?? true;
  }
}

function patternsOf(text: string): IgnorePattern[] {
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  const patterns = lines.flatMap((line) => {
    const pattern = line.startsWith("#") ? "" : normalized(line.trim());
    if (pattern === "") return [];
    const read = ignorePattern(pattern);
    if (read) return [read];
    const sentence = `Cannot build: the pattern ${shown(line.trim())} in .dockerignore is malformed; correct it`;
    throw invalid("build_failed", sentence);
  });
  if (patterns.reduce((sum, pattern) => sum + pattern.text.length, 0) <= MAX_CHARACTERS) return patterns;
  throw invalid("build_failed", "Cannot build: the patterns in .dockerignore are longer than 64 KB; use fewer");
}

function normalized(line: string): string {
  const exception = line.startsWith("!");
  const text = exception ? line.slice(1).trim() : line;
  const clean = text === "" ? "" : cleaned(text);
  return `${exception ? "!" : ""}${clean.length > 1 && clean.startsWith("/") ? clean.slice(1) : clean}`;
}

/** Returns the shortest equivalent path: without `.`, empty parts, and `..` where there is a parent to leave. */
function cleaned(path: string): string {
  const rooted = path.startsWith("/");
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (!rooted) parts.push("..");
  }
  return `${rooted ? "/" : ""}${parts.join("/")}` || ".";
}
