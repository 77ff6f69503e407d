import { describe, expect, test } from "bun:test";
import { jsonFault } from "../../domain/detection/text/json_fault.ts";

describe("jsonFault()", () => {
  test.each([
    ['{\n  "scripts": {\n    "start": "node a.js",\n  }\n}', 3, "there is a comma before }"],
    ['{\n  "files": [\n    "a",\n    "b",\n  ]\n}', 4, "there is a comma before ]"],
    ['{\n  "name": "a"\n  "main": "b.js"\n}', 2, "a comma is missing after a value"],
    ['{\n  "name" "a"\n}', 2, "a colon is missing after a name"],
    ["{\n  name: 1\n}", 2, "a name is not in double quotes"],
    ["{\n\n  'name': 1\n}", 3, "a name is not in double quotes"],
    ["{\n  \"name\": 'a'\n}", 2, "text is in single quotes; use double quotes"],
    ['{\n  // why\n  "name": "a"\n}', 2, "there is a comment, which JSON does not allow"],
    ['{\n  "name": "a", /* why */\n  "main": "b"\n}', 2, "there is a comment, which JSON does not allow"],
    ['{\n  "name": "a\n}', 2, "text is not closed by double quotes"],
    ['{\n  "name": "a\\x"\n}', 2, "there is a \\ in text before a character that must not be escaped"],
    ['{\n  "name": undefined\n}', 2, "something is not a JSON value"],
    ['{\n  "name": constructor\n}', 2, "something is not a JSON value"],
    ['{\n  "port": 08\n}', 2, "something is not a JSON value"],
    ['{\n  "name": "a"\n', 2, "it ends too early: } is missing"],
    ['{\n  "files": ["a"', 2, "it ends too early: ] is missing"],
    ['{\n  "name": ', 2, "it ends too early: a value is missing"],
    ['{ "name": "a" }\n}', 2, "something follows the last }"],
    ["<<<<<<< HEAD\n{}", 1, "something is not a JSON value"],
    ['{\n  "a": [1, 2}\n}', 2, "there is a } where ] should be"],
    ["{\n  ,\n}", 2, "a name is not in double quotes"],
  ])("of %j", (text, line, reason) => {
    expect(jsonFault(text)).toEqual({ line, reason });
  });

  test.each(["", "  \n\t"])("of an empty text %j", (text) => {
    expect(jsonFault(text)).toEqual({ line: 1, reason: "it is empty" });
  });

  test.each(["{}", '[1, -2.5e+3, "\\u00e9\\n", true, false, null, {"a": {}, "b": []}]', "\uFEFF{}", "3", ' "x" '])(
    "finds nothing wrong with %j",
    (text) => {
      expect(jsonFault(text)).toBeUndefined();
    },
  );

  test("finds a fault exactly when the parser does", () => {
    const base = '{"a": [1, {"b": "c\\n"}, true], "d": {"e": null, "f": -1.5e3}}';
    const marks = [..."{}[],:\"\\ a1\n'/"];
    for (let at = 0; at <= base.length; at++) {
      for (const mark of [...marks, ""]) {
        const text = base.slice(0, at) + mark + base.slice(mark === "" ? at + 1 : at);
        expect([text, jsonFault(text) !== undefined]).toEqual([text, !parses(text)]);
      }
    }
  });

  test("handles deep and long texts in linear time", () => {
    expect(jsonFault("[".repeat(1_000_000))?.reason).toBe("it ends too early: ] is missing");
    expect(jsonFault(`"${"\\".repeat(1_000_001)}`)?.reason).toBe("text is not closed by double quotes");
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
