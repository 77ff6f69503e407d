import { shown } from "../../../domain/archive/refusal.ts";
import { invalid } from "../../../domain/failure.ts";
import { fixedPart, type IgnorePattern, ignorePattern } from "./ignore_pattern.ts";

/** Each file is held against all of it, by a server that has others to answer meanwhile. */
const MAX_CHARACTERS = 65_536;

/** What is known of a path: whether it is left out, and which patterns it matches, for what lies below it. */
export interface Verdict {
  readonly ignored: boolean;
  readonly matched: readonly boolean[];
}

/**
 * The rules of a `.dockerignore`: the last pattern that matches a path, or a folder it lies in, decides. Throws an `invalid` failure, code `build_failed`, for a
 * pattern that Docker would refuse, and for more of them than anybody needs.
 */
export class DockerIgnore {
  readonly #patterns: readonly IgnorePattern[];
  /** Where exceptions may be; `undefined` when anywhere. */
  readonly #exceptions: readonly string[] | undefined;

  constructor(text: string) {
    this.#patterns = patternsOf(text);
    const exceptions = this.#patterns.filter(({ exception }) => exception).map(fixedPart);
    this.#exceptions = exceptions.includes(undefined) ? undefined : (exceptions as string[]);
  }

  /** Judges a relative path, given the verdict on its folder; none for what lies in the root. */
  judge(path: string, folder?: Verdict): Verdict {
    let ignored = false;
    const matched = this.#patterns.map((pattern, index) => {
      const already = folder?.matched[index] ?? false;
      // A pattern that could change nothing is not asked, not even on behalf of what lies below: so does Docker.
      const matches = already || (pattern.exception === ignored && pattern.matches(path));
      if (matches) ignored = !pattern.exception;
      return matches;
    });
    return { ignored, matched };
  }

  /** Whether something below an ignored folder may be taken back. */
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

/** The shortest path of the same meaning: without `.`, empty parts, and `..` where there is something to leave. */
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
