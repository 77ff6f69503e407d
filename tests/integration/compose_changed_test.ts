import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { COMPOSE_CASES, composeCases, composeSays } from "../support/inputs/compose_case.ts";
import { writtenProject } from "../support/inputs/written_project.ts";

/** Values of unexpected types. */
const ODD_VALUES = ["[]", "{}", "null", "-1", "[[x]]", "{a: {b: c}}", '"${NOPE}"', "!reset null", "[{}]"];

describe("loadCompose() refuses with a message or reads, and nothing else,", () => {
  for (const name of composeCases) {
    test(`${name} with any value changed`, async () => {
      const lines = (await Bun.file(join(COMPOSE_CASES, name, "project.txt")).text()).split("\n").slice(0, 40);
      for (const [at, line] of lines.entries()) {
        const odd = ODD_VALUES[at % ODD_VALUES.length]!;
        const changed = line.replace(/^(\s*(?:- )?[\w"]+:)(?: .*)?$/, (_, key: string) => `${key} ${odd}`);
        for (const text of [lines.toSpliced(at, 1), lines.with(at, changed)]) {
          const files = writtenProject(text.join("\n"));
          const answer = await composeSays(files, { file: [...files.keys()][0] ?? "compose.yaml" });
          expect(Object.keys(answer).length).toBeGreaterThan(0);
        }
      }
    });
  }
});
