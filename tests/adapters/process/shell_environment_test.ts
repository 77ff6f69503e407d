import { describe, expect, test } from "bun:test";
import { environmentText } from "../../../adapters/process/shell_environment.ts";
import { Secret } from "../../../domain/secret.ts";

const SURROUNDINGS = { home: "/home", programs: "/programs", spawnFolder: "/", working: "/" };

function textWith(name: string): string {
  return environmentText(new Map([[name, new Secret("canary")]]), SURROUNDINGS, { defaults: {}, fixed: {} });
}

describe("environmentText()", () => {
  test("sets a variable that a shell can have", () => {
    expect(textWith("A_1")).toContain("export A_1='canary'\n");
  });

  test.each(["my.key", "1A", "db/A", "A$(id)", "A;id", "Ä", ""])("refuses %j, without its value", (name) => {
    expect(() => textWith(name)).toThrow(expect.objectContaining({ kind: "invalid", code: "variable_unsupported" }));
    expect(() => textWith(name)).toThrow(`Cannot run this as a process: no shell can set its variable ${name}`);
    expect(() => textWith(name)).not.toThrow("canary");
  });
});
