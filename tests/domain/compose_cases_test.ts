import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { COMPOSE_CASES, composeCases, composeSays, type ComposeOptions } from "../support/inputs/compose_case.ts";
import { writtenProject } from "../support/inputs/written_project.ts";

const UPDATES = process.env["UPDATE_COMPOSE"] === "1";

describe("loadCompose() reads", () => {
  test("at least 60 projects", () => expect(composeCases.length).toBeGreaterThanOrEqual(60));

  for (const name of composeCases) {
    test(name, async () => {
      const options = Bun.file(join(COMPOSE_CASES, name, "options.json"));
      const files = writtenProject(await Bun.file(join(COMPOSE_CASES, name, "project.txt")).text());
      const result = await composeSays(
        files,
        (await options.exists()) ? ((await options.json()) as ComposeOptions) : {},
      );
      const file = Bun.file(join(COMPOSE_CASES, name, "expected.json"));
      if (UPDATES) await Bun.write(file, `${JSON.stringify(result, null, 2)}\n`);
      expect(result).toEqual(await file.json());
    });
  }
});
