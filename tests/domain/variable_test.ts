import { describe, expect, test } from "bun:test";
import { checkVariableKeys } from "../../domain/projects/variable.ts";

function refusal(path: string) {
  return expect.objectContaining({ kind: "invalid", details: [expect.objectContaining({ path })] });
}

describe("checkVariableKeys()", () => {
  test("accepts keys that are valid in a shell", () => {
    expect(checkVariableKeys(["A", "_", "a1", "PATH", "Path", "x".repeat(255)], ["B", "__proto__"])).toBeUndefined();
    expect(checkVariableKeys([], [])).toBeUndefined();
  });

  test.each(["", "1A", "A-B", "A B", "A=B", "A\n", "Ä", "A.B", "$A", "A\0", "x".repeat(256)])(
    "refuses the key %j and says where it is",
    (key) => {
      expect(() => checkVariableKeys(["GOOD", key], [])).toThrow(refusal("upserts.1.key"));
      expect(() => checkVariableKeys(["GOOD"], ["FINE", key])).toThrow(refusal("deletes.1"));
    },
  );

  test("refuses a duplicate key", () => {
    expect(() => checkVariableKeys(["A", "B", "A"], [])).toThrow(refusal("upserts.2.key"));
    expect(() => checkVariableKeys([], ["A", "A"])).toThrow(refusal("deletes.1"));
    expect(() => checkVariableKeys(["A"], ["A"])).toThrow(refusal("deletes.0"));
  });
});
