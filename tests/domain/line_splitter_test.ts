import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { LineSplitter } from "../../domain/deployments/line_splitter.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** The lines of bytes that arrive in chunks of the given lengths, repeated cyclically. */
function split(bytes: Uint8Array, lengths: readonly number[] = [bytes.length || 1]): string[] {
  const splitter = new LineSplitter();
  const lines: string[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = lengths[turn % lengths.length]!;
    lines.push(...splitter.push(bytes.subarray(at, at + length)));
    at += length;
  }
  return [...lines, ...splitter.flush()];
}

test.each<[string, string[]]>([
  ["", []],
  ["a\nb\n", ["a", "b"]],
  ["a\nb", ["a", "b"]],
  ["\n\na\n\n", ["", "", "a", ""]],
  ["a\r\nb\r\n\r\nc", ["a", "b", "", "c"]],
  ["10%\r50%\r100%\ndone\n", ["10%", "50%", "100%", "done"]],
  ["\r10%\r100%\r\n", ["10%", "100%"]],
  ["a\r\r\nb\n", ["a", "b"]],
  ["a\r\n\nb", ["a", "", "b"]],
  ["\r\r\n", [""]],
  ["a\r", ["a"]],
  ["\u001B[31mred\u001B[0m\u001B[2K\r\u001B[1Gx\n", ["\u001B[31mred\u001B[0m\u001B[2K", "\u001B[1Gx"]],
  ["tab\tand \u0000 stay\n", ["tab\tand \u0000 stay"]],
  ["\uFEFFbom\n", ["\uFEFFbom"]],
])("push() splits %j for any chunking", (text, lines) => {
  const bytes = bytesOf(text);
  for (const length of [1, 2, 3, 5, 1_000]) expect(split(bytes, [length])).toEqual(lines);
});

test("push() returns a line as soon as it ends", () => {
  const splitter = new LineSplitter();
  expect(splitter.push(bytesOf("50%\r"))).toEqual(["50%"]);
  expect(splitter.push(bytesOf("\n"))).toEqual([]);
  expect(splitter.push(bytesOf("a"))).toEqual([]);
  expect(splitter.push(bytesOf("b\nc"))).toEqual(["ab"]);
  expect(splitter.flush()).toEqual(["c"]);
  expect(splitter.flush()).toEqual([]);
});

test("push() decodes characters that are split over chunks and replaces broken ones", () => {
  expect(split(bytesOf("grün – 🚀\n"), [1])).toEqual(["grün – 🚀"]);
  expect(split(new Uint8Array([0x61, 0xff, 0x62, 0x0a, 0xf0, 0x9f]), [1])).toEqual(["a\uFFFDb", "\uFFFD"]);
  expect(split(new Uint8Array([0xe2, 0x82, 0x0a, 0x61]), [1])).toEqual(["\uFFFD", "a"]);
});

test("push() returns the same lines for any chunking, and loses nothing except line ends", () => {
  const byte = fc.oneof(fc.constantFrom(0x0a, 0x0d, 0x20, 0x61, 0xc3, 0xa4, 0xf0, 0x9f, 0x9a, 0x80), fc.nat(255));
  fc.assert(
    fc.property(
      fc.array(byte, { maxLength: 300 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      (raw, lengths) => {
        const bytes = new Uint8Array(raw);
        const lines = split(bytes, lengths);
        expect(lines).toEqual(split(bytes));
        const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
        expect(lines.join("")).toBe(text.replaceAll(/[\r\n]/g, ""));
        expect(lines.some((line) => /[\r\n]/.test(line))).toBe(false);
      },
    ),
    { numRuns: 2_000 },
  );
});

test("push() cuts a line of many megabytes into bounded pieces, without loss", () => {
  const text = "0123456789".repeat(500_000);
  for (const length of [1_000, 65_536, 10_000_000]) {
    const lines = split(bytesOf(text), [length]);
    expect(lines.join("")).toBe(text);
    expect(Math.max(...lines.map((line) => line.length))).toBe(16_384);
  }
});

test("push() holds no more than one piece of an endless line", () => {
  const splitter = new LineSplitter();
  const chunk = bytesOf("x".repeat(30_000));
  let given = 0;
  for (let turn = 1; turn <= 200; turn++) {
    for (const line of splitter.push(chunk)) given += line.length;
    expect(turn * chunk.length - given).toBeLessThanOrEqual(16_384);
  }
});

test("push() cuts long lines after white space, and never inside a character", () => {
  const words = "word-of-some-length ".repeat(3_000);
  const lines = split(bytesOf(words), [4_096]);
  expect(lines.join("")).toBe(words);
  expect(lines.slice(0, -1).every((line) => line.endsWith(" "))).toBe(true);
  for (const lead of ["", "x"]) {
    const rockets = lead + "🚀".repeat(20_000);
    const pieces = split(bytesOf(rockets), [9_999]);
    expect(pieces.join("")).toBe(rockets);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
  }
});
