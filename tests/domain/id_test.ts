import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { isAnyId, isId, newId } from "../../domain/id.ts";
import { newToken } from "../../domain/identity/token.ts";

describe("newId()", () => {
  test("returns a prefix and 26 unambiguous characters", () => {
    for (const prefix of ["prj", "usr", "tok"] as const) {
      expect(newId(prefix)).toMatch(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`));
    }
  });

  test("never returns an id twice, even for the same time", () => {
    const at = new Date();
    const ids = new Set(Array.from({ length: 10_000 }, () => newId("dep", at)));
    expect(ids.size).toBe(10_000);
  });

  test("orders ids by time", () => {
    const time = fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true });
    fc.assert(
      fc.property(time, time, (first, second) => {
        if (first >= second) return;
        expect(newId("aud", first) < newId("aud", second)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test("accepts a time before 1970", () => {
    expect(isId("aud", newId("aud", new Date("1960-01-01")))).toBe(true);
  });
});

describe("isId()", () => {
  test("accepts what newId() returns, of that kind only", () => {
    expect(isId("prj", newId("prj"))).toBe(true);
    expect(isId("usr", newId("prj"))).toBe(false);
  });

  test.each([
    "",
    "prj",
    "prj_",
    "prj_short",
    `prj_${"a".repeat(19)}`,
    `prj_${"a".repeat(41)}`,
    `prj_${"A".repeat(26)}`,
    `prj_${"a".repeat(25)}\n`,
    `prj_${"a".repeat(26)}\0`,
    `prj_${"a".repeat(20)}' OR 1=1`,
    `prj_../${"a".repeat(20)}`,
    ` prj_${"a".repeat(26)}`,
    `PRJ_${"a".repeat(26)}`,
  ])("refuses %j", (text) => {
    expect(isId("prj", text)).toBe(false);
  });

  test.each([20, 40])("accepts %d characters", (length) => {
    expect(isId("prj", `prj_${"0".repeat(length)}`)).toBe(true);
  });
});

describe("isAnyId()", () => {
  test("accepts an id of every kind, and no access token", () => {
    for (const prefix of ["aud", "prj", "tok", "usr"] as const) expect(isAnyId(newId(prefix))).toBe(true);
    for (const text of [newToken(), `slp_${"a".repeat(30)}`, "prj_short", "", ` ${newId("prj")}`]) {
      expect(isAnyId(text)).toBe(false);
    }
  });
});
