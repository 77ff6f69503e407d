import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { Failure } from "../../domain/failure.ts";
import { shellWord } from "../../domain/shell_word.ts";
import { hostileArguments } from "../support/inputs/hostile_arguments.ts";

/** The arguments that a real shell passes to a program for this line. */
function readBack(line: string): string[] {
  const { stdout } = Bun.spawnSync(["sh", "-c", `printf '%s\\0' ${line}`]);
  return stdout.toString().split("\0").slice(0, -1);
}

test("shellWord() writes words that a shell reads back unchanged", () => {
  expect(readBack(hostileArguments.map(shellWord).join(" "))).toEqual([...hostileArguments]);
});

test("shellWord() quotes any text so that a shell reads it back unchanged", () => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom(..."'\"\\$`!*?[]{}()<>|&;#~=%-+ \t\r\n") }),
    fc.string({ unit: "grapheme" }),
  );
  const argument = text.filter((value) => !value.includes("\0") && value.isWellFormed());
  fc.assert(
    fc.property(fc.array(argument, { minLength: 1, maxLength: 20 }), (argv) => {
      expect(readBack(argv.map(shellWord).join(" "))).toEqual(argv);
    }),
    { numRuns: 40 },
  );
});

test("shellWord() refuses a NUL character", () => {
  expect(() => shellWord("a\0b")).toThrow(Failure);
});
