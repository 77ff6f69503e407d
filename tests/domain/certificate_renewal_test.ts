import { describe, expect, test } from "bun:test";
import { createPrivateKey } from "node:crypto";
import { newCertificateKey } from "../../domain/certificates/new_certificate_key.ts";
import { pauseAfterMs, renewalTime, retryDelayMs } from "../../domain/certificates/renewal.ts";

const HOUR_MS = 3_600_000;

describe("renewalTime()", () => {
  const notBefore = new Date("2026-01-01T00:00:00Z");

  test.each([
    [90, 0, 60],
    [90, 1, 55.5],
    [6, 0, 4],
  ])("of a certificate for %d days, with chance %d, is after %d days", (days, chance, expected) => {
    const notAfter = new Date(notBefore.getTime() + days * 24 * HOUR_MS);
    const at = renewalTime({ notBefore, notAfter }, chance);
    expect((at.getTime() - notBefore.getTime()) / (24 * HOUR_MS)).toBeCloseTo(expected, 5);
  });
});

describe("retryDelayMs()", () => {
  test("doubles from a minute to a day", () => {
    const minutes = [1, 2, 3, 4, 10, 11, 12, 1_000].map((failures) => retryDelayMs(failures, { chance: 0 }) / 60_000);
    expect(minutes).toEqual([1, 2, 4, 8, 512, 1_024, 1_440, 1_440]);
  });

  test("is at least what the authority asks for, up to a week, and is spread", () => {
    expect(retryDelayMs(1, { chance: 0, retryAfter: 7_200 })).toBe(2 * HOUR_MS);
    expect(retryDelayMs(12, { chance: 0, retryAfter: 60 })).toBe(24 * HOUR_MS);
    expect(retryDelayMs(1, { chance: 0, retryAfter: 1e9 })).toBe(7 * 24 * HOUR_MS);
    expect(retryDelayMs(1, { chance: 1 })).toBe(63_000);
  });
});

describe("pauseAfterMs()", () => {
  test.each([
    ["authority_unreachable", 60, 60_000],
    ["authority_unreachable", 1e9, HOUR_MS],
    ["authority_limited", 3 * 3_600, 3 * HOUR_MS],
    ["authority_limited", 1e9, 24 * HOUR_MS],
    ["authority_limited", undefined, 30_000],
    ["authority_refused", 3_600, 0],
  ])("after %s with a wait of %p s is %p ms", (code, retryAfter, expected) => {
    expect(pauseAfterMs({ code, retryAfter }, 30_000)).toBe(expected);
  });
});

test("newCertificateKey() makes a different key in PEM format each time", async () => {
  const [one, other] = [await newCertificateKey(), await newCertificateKey()];
  expect(one.reveal()).not.toBe(other.reveal());
  expect(createPrivateKey(one.reveal()).asymmetricKeyType).toBe("ec");
});
