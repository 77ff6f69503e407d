import { describe, expect, test } from "bun:test";
import { Together } from "../../../adapters/postgres/together.ts";

function summing() {
  const calls: (readonly number[])[] = [];
  const together = new Together(async (items: readonly number[]) => {
    calls.push([...items]);
    if (items.includes(0)) throw new Error("none may be zero");
    return items.reduce((sum, item) => sum + item, 0);
  });
  return { together, calls };
}

describe("Together", () => {
  test("does the work once for the items of one turn and key", async () => {
    const { together, calls } = summing();
    const added = [together.add("a", 1), together.add("b", 2), together.add("a", 3)];
    expect(calls).toEqual([]);
    expect(await Promise.all(added)).toEqual([4, 2, 4]);
    expect(calls).toEqual([[1, 3], [2]]);
    expect(await together.add("a", 5)).toBe(5);
  });

  test("adds nothing to work that has begun", async () => {
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const calls: number[][] = [];
    const together = new Together(async (items: readonly number[]) => {
      calls.push([...items]);
      begun.resolve();
      await end.promise;
    });
    const first = together.add("a", 1);
    await begun.promise;
    const second = together.add("a", 2);
    end.resolve();
    await Promise.all([first, second]);
    expect(calls).toEqual([[1], [2]]);
  });

  test("splits what is too much for one statement", async () => {
    const { together, calls } = summing();
    const sums = await Promise.all(Array.from({ length: 250 }, () => together.add("a", 1)));
    expect(calls.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(sums.at(-1)).toBe(50);
  });

  test("fails for the items of the failed work only", async () => {
    const { together } = summing();
    const outcomes = await Promise.allSettled([together.add("a", 0), together.add("a", 1), together.add("b", 1)]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
    expect(await together.add("a", 1)).toBe(1);
  });
});
