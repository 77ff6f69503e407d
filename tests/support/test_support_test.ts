import { describe, expect, test } from "bun:test";
import { eventually } from "./eventually.ts";
import { randomInput } from "./inputs/random_input.ts";

describe("eventually()", () => {
  test("retries after errors and results that do not satisfy", async () => {
    let calls = 0;
    const ask = async () => {
      if (++calls < 3) throw new Error("not yet");
      return calls;
    };
    expect(await eventually(ask, (answer) => answer === 5)).toBe(5);
  });

  test("rejects with the last result when none satisfies", async () => {
    const waiting = eventually(
      async () => ({ status: "building" }),
      () => false,
      0,
    );
    await expect(waiting).rejects.toThrow('status: "building"');
  });

  test("rejects with the last error, which is its cause", async () => {
    const cause = new Error("not there");
    const waiting = eventually(
      () => Promise.reject(cause),
      () => true,
      0,
    );
    const error = await waiting.catch((reason: unknown) => reason as Error);
    expect([error.message, error.cause]).toEqual(["Still failing after 0 ms: not there", cause]);
  });
});

describe("randomInput()", () => {
  test("is the same for the same label, and different for another", () => {
    const [one, again, other] = ["a", "a", "b"].map((label) => randomInput(label).bytes(32));
    expect(again).toEqual(one!);
    expect(other).not.toEqual(one!);
  });

  test("returns bytes of any length, and numbers within their bounds", () => {
    const input = randomInput("bounds");
    for (const length of [0, 1, 5, 1_000]) expect(input.bytes(length)).toHaveLength(length);
    for (let count = 0; count < 1_000; count++) {
      expect(input.below(3)).toBeOneOf([0, 1, 2]);
      expect(input.fraction()).toBeWithin(0, 1);
    }
    const bytes = new Uint8Array(100);
    input.fill(bytes.subarray(0, 50));
    expect(bytes.subarray(50)).toEqual(new Uint8Array(50));
    expect(bytes.subarray(0, 50)).not.toEqual(new Uint8Array(50));
  });
});
