import { describe, expect, test } from "bun:test";
import { DockerIgnore, type Verdict } from "../../adapters/docker/build/docker_ignore.ts";
import { IGNORE_CASES, IGNORE_TREE } from "../support/inputs/ignore_cases.ts";

/** The paths that the rules leave, as a walk through them finds it. */
function left(rules: string, paths: readonly string[]): string[] {
  const ignore = new DockerIgnore(rules);
  return paths.filter((path) => {
    const parts = path.split("/");
    let verdict: Verdict | undefined;
    for (let count = 1; count <= parts.length; count++) {
      const at = parts.slice(0, count).join("/");
      verdict = ignore.judge(at, verdict);
      if (verdict.ignored && count < parts.length && !ignore.mayTakeBack(at)) return false;
    }
    return !verdict!.ignored;
  });
}

describe("DockerIgnore", () => {
  test.each(IGNORE_CASES)("excludes what Docker excludes: %s", (_, rules, expected) => {
    expect(left(rules, IGNORE_TREE)).toEqual([...expected]);
  });

  // Docker 20.10 got these wrong; the expectations follow its documentation and later versions.
  test.each([
    ["**foo", ["foo/a", "xfoo", "b/xfoo", "foot"], ["foot"]],
    ["a+b(1).txt", ["a+b(1).txt", "aab1.txt"], ["aab1.txt"]],
    ["a.txt|b{2}$", ["a.txt", "bb", "a.txt|b{2}$"], ["a.txt", "bb"]],
    ["node_modules\n!**/keep", ["node_modules/a", "node_modules/keep/b"], ["node_modules/keep/b"]],
    ["**\n!**/*.md", ["a.md", "b.txt", "c/d.md", "c/d.txt"], ["a.md", "c/d.md"]],
    ["a\n!a/b\na/b/c", ["a/b/c/d", "a/b/e", "a/f"], ["a/b/e"]],
    ["*/temp*", ["temp", "a/temporary/x", "a/b/temp"], ["temp", "a/b/temp"]],
    ["[a-cx-]z", ["az", "bz", "xz", "dz"], undefined],
    ["[a-cx]z", ["az", "bz", "xz", "dz"], ["dz"]],
    ["[\\]\\-]z", ["]z", "-z", "az"], ["az"]],
    ["a\\*b", ["a*b", "axb"], ["axb"]],
  ])("%j leaves of %j only %j", (rules, paths, expected) => {
    if (expected) expect(left(rules, paths)).toEqual(expected);
    else expect(() => left(rules, paths)).toThrow("is malformed");
  });

  test.each(["[", "a[", "[]", "[]a", "[^]", "[-]", "[a-]", "[z-a]", "a\\", "!", "!  "])(
    "refuses the pattern %s",
    (line) => {
      const sentence = /^Cannot build: the pattern ".*" in \.dockerignore is malformed; correct it$/;
      expect(() => new DockerIgnore(`# first\n${line}\n`)).toThrow(sentence);
    },
  );

  test("includes everything when there are no rules", () => {
    for (const rules of ["", "\n\n", "# only words\n", "\uFEFF# marked\n", "  \n\t\n"]) {
      expect(left(rules, IGNORE_TREE)).toEqual([...IGNORE_TREE]);
    }
  });

  // Backtracking would take years.
  test.each([`${"*a".repeat(40)}*b`, `${"**/".repeat(40)}x`, `${"**a".repeat(40)}b`, `**/${"[a-z]*".repeat(30)}1`])(
    "handles the pattern %s without backtracking",
    (rules) => {
      const paths = ["a".repeat(255), `${"a/".repeat(200)}a`];
      expect(left(rules, paths)).toEqual(paths);
    },
  );

  test("refuses patterns that are too long", () => {
    const sentence = "Cannot build: the patterns in .dockerignore are longer than 64 KB; use fewer";
    expect(() => new DockerIgnore("*a\n".repeat(40_000))).toThrow(sentence);
    expect(() => new DockerIgnore(`# ${"words ".repeat(40_000)}\n*a`)).not.toThrow();
  });
});
