import { expect, test } from "bun:test";
import { Failure } from "../../domain/failure.ts";
import { readName } from "../../domain/given_name.ts";

const ADVICE = "give it a name";

test("readName() trims a name and keeps the rest of it", () => {
  expect(readName(" \tHafen 港 🚢\n", ADVICE)).toBe("Hafen 港 🚢");
});

test("readName() refuses a blank name with advice", () => {
  for (const blank of ["", " ", "\n\t"]) expect(() => readName(blank, ADVICE)).toThrow(`"name": ${ADVICE}`);
});

test.each(["a\nb", "a\tb", "a\0b", "a\u007fb", "a\u0085b", "a\u001b[31mb"])("readName() refuses %j", (text) => {
  expect(() => readName(text, ADVICE)).toThrow(Failure);
  expect(() => readName(text, ADVICE)).toThrow("control character");
});
