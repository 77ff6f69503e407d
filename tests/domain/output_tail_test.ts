import { describe, expect, test } from "bun:test";
import { type LeftOut, leftOutLine, leftOutTogether, OutputTail } from "../../domain/deployments/output_tail.ts";

const at = (seq: number) => new Date(seq * 1_000);
const part = (seq: number, bytes: number, lines = 1): LeftOut => ({ lines, bytes, seq, at: at(seq) });

describe("OutputTail", () => {
  test("keeps everything within its limit", () => {
    const tail = new OutputTail(100);
    const parts = [part(1, 40), part(2, 60)];
    for (const each of parts) tail.add(each);
    expect(tail.parts).toEqual(parts);
    expect(tail.leftOut).toBeNull();
  });

  test("drops the oldest beyond its limit, and counts them with those dropped before", () => {
    const tail = new OutputTail(100, part(2, 7, 2));
    for (let seq = 3; seq <= 1_000; seq++) tail.add(part(seq, 30, 2));
    expect(tail.parts.map(({ seq }) => seq)).toEqual([998, 999, 1_000]);
    expect(tail.leftOut).toEqual({ lines: 2 + 995 * 2, bytes: 7 + 995 * 30, seq: 997, at: at(997) });
  });

  test("keeps nothing when there is no room", () => {
    const tail = new OutputTail(0);
    for (const seq of [1, 2]) tail.add(part(seq, 10));
    expect(tail.parts).toEqual([]);
    expect(tail.leftOut).toEqual({ lines: 2, bytes: 20, seq: 2, at: at(2) });
  });
});

test("leftOutLine() says how much is missing, at the position of the last missing line", () => {
  const line = leftOutLine({ lines: 1_234, bytes: 4_560_000, seq: 77, at: at(5) });
  const message = "[1234 lines of output left out (4.6 MB): the last 10 MB are kept]";
  expect(line).toEqual({ seq: 77, at: at(5), stream: "slipway", message });
  expect(leftOutLine(part(1, 12_001)).message).toContain("(13 kB)");
});

test("leftOutTogether() adds up both parts", () => {
  const [first, second] = [part(1, 10, 3), part(9, 5, 2)];
  expect(leftOutTogether(first, second)).toEqual({ lines: 5, bytes: 15, seq: 9, at: at(9) });
  expect([leftOutTogether(first, null), leftOutTogether(null, second)]).toEqual([first, second]);
  expect(leftOutTogether(null, null)).toBeNull();
});
