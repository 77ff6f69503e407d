import { describe, expect, test } from "bun:test";
import { didYouMean } from "../../domain/did_you_mean.ts";

const FIELDS = ["name", "port", "gitUrl", "gitOwner", "localPath", "dependsOn", "environment", "toString"];

describe("didYouMean()", () => {
  test.each([
    ["prot", "port"],
    ["Port", "port"],
    ["git_url", "gitUrl"],
    ["GIT-URL", "gitUrl"],
    ["depends_on", "dependsOn"],
    ["localpaht", "localPath"],
    ["env", "environment"],
    ["Environ", "environment"],
  ])("for %p suggests %p", (word, meant) => {
    expect(didYouMean(word, FIELDS)).toBe(` (did you mean "${meant}"?)`);
  });

  test.each([
    ["a word unlike all fields", "colour"],
    ["a prefix of several fields", "git"],
    ["one letter", "e"],
    ["nothing", ""],
    ["a long text", "port".repeat(1_000)],
    ["a number", 5],
    ["an object", { port: 1 }],
  ])("for %s suggests nothing", (_, word) => {
    expect(didYouMean(word, FIELDS)).toBe("");
  });
});
