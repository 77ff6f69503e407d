import { describe, expect, test } from "bun:test";
import { plainText, withPlainText } from "../../domain/deployments/plain_text.ts";

describe("plainText()", () => {
  test.each([
    ["a\0b\0", "a\uFFFDb\uFFFD"],
    ["\ud83d", "\uFFFD"],
    ["x\ude80y", "x\uFFFDy"],
    ["\ude80\ud83d", "\uFFFD\uFFFD"],
    ["🚀 \u0001 \\u0000 \uFFFF", "🚀 \u0001 \\u0000 \uFFFF"],
    ["", ""],
  ])("makes %j storable", (text, expected) => {
    expect(plainText(text)).toBe(expected);
  });
});

describe("withPlainText()", () => {
  test("changes every text, including names, and keeps everything else", () => {
    const at = new Date("2026-01-01T00:00:00.000Z");
    const value = { "k\0": ["\0", { deep: "\ud800", at, none: null, count: 3, yes: true }], __proto__: null };
    expect(withPlainText(value)).toEqual({
      "k\uFFFD": ["\uFFFD", { deep: "\uFFFD", at, none: null, count: 3, yes: true }],
    } as unknown as typeof value);
  });

  test("keeps a field named __proto__ as a field", () => {
    const copy = withPlainText(JSON.parse('{"__proto__": {"admin": "a\\u0000"}}') as Record<string, unknown>);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"admin":"a\uFFFD"}}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  test("shares nothing with the original where something is replaced", () => {
    const value = { list: [{ at: new Date(0), text: "\0" }] };
    const copy = withPlainText(value);
    copy.list[0]!.at.setTime(1);
    copy.list.pop();
    expect(value).toEqual({ list: [{ at: new Date(0), text: "\0" }] });
  });

  test("returns a value in which nothing is replaced", () => {
    const value = { list: [{ at: new Date(0), text: "🚢" }] };
    expect(withPlainText(value)).toBe(value);
  });
});
