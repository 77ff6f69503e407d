import { describe, expect, test } from "bun:test";
import { dockerfileArguments } from "../../domain/image/dockerfile_arguments.ts";

describe("dockerfileArguments()", () => {
  test.each<[string, string, string[]]>([
    ["one per line", "FROM a\nARG ONE\n  arg TWO=2\n", ["ONE", "TWO"]],
    ["several per line", "ARG ONE TWO=2\tTHREE\n", ["ONE", "TWO", "THREE"]],
    ["on continued lines", "ARG ONE=1 \\\n  TWO \\\r\n  THREE=3\nRUN FOUR", ["ONE", "TWO", "THREE"]],
    ["with values in quotes", `ARG ONE="a TWO=b \\" c" THREE='d FOUR'\n`, ["ONE", "THREE"]],
    ["in ARG instructions only", "# ARG ONE\nARGS TWO\nENV THREE=3\nRUN echo ARG FOUR\nARG 5=5 a-b\n", []],
  ])("finds them %s", (_, text, names) => {
    expect([...dockerfileArguments(text)]).toEqual(names);
  });

  test("is fast for any text", () => {
    for (const text of [`ARG ${"\\".repeat(200_000)}`, `ARG ${'"'.repeat(200_001)}`, "ARG \\\n".repeat(100_000)]) {
      expect(dockerfileArguments(text).has("ONE")).toBe(false);
    }
  });
});
