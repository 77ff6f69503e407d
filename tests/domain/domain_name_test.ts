import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { normalHostname, proofRecord } from "../../domain/domains/domain_name.ts";

describe("normalHostname()", () => {
  test.each([
    ["www.example.com", "www.example.com"],
    ["WWW.Example.COM.", "www.example.com"],
    ["  example.com\n", "example.com"],
    ["a-b.c0.example", "a-b.c0.example"],
    ["1.example.com", "1.example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["bu\u0308cher.example", "xn--bcher-kva.example"],
    ["BÜCHER.example", "xn--bcher-kva.example"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["हिन्दी.भारत", "xn--j2bd4cyah0f.xn--h2brj9c"],
    ["ｅｘａｍｐｌｅ.com", "example.com"],
    [`${"a".repeat(63)}.com`, `${"a".repeat(63)}.com`],
  ])("normalizes %j to %j", (text, expected) => {
    expect(normalHostname(text)).toBe(expected);
  });

  test.each([
    "",
    ".",
    "localhost",
    "com.",
    "*.example.com",
    "a..example.com",
    ".example.com",
    "example.com..",
    "-a.example.com",
    "a-.example.com",
    "a_b.example.com",
    "a b.example.com",
    "example.com:443",
    "example.com/path",
    "https://example.com",
    "user@example.com",
    "example.com?x",
    "example.com#x",
    "exa%6dple.com",
    "example.com\\x",
    "example\0.com",
    "127.0.0.1",
    "127.1",
    "0x7f.0.0.1",
    "１２７.0.0.1",
    "10.0.0.1.",
    "[::1]",
    "::1",
    "example.123",
    "1.2.3.4.5",
    "xn--a.example",
    `${"a".repeat(64)}.com`,
    `${"a.".repeat(130)}com`,
    "$(id).example.com",
    "a;b.example.com",
  ])("refuses %j", (text) => {
    expect(normalHostname(text)).toBeUndefined();
  });

  test("is idempotent and returns lower-case ASCII labels", () => {
    const label = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(label, label, (name, top) => {
        const hostname = normalHostname(`${name}.${top}`);
        if (hostname === undefined) return;
        expect(hostname).toMatch(/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/);
        expect(normalHostname(hostname)).toBe(hostname);
      }),
      { numRuns: 3_000 },
    );
  });
});

test("proofRecord() returns a record name under the host name and a value with the proof", () => {
  const domain = {
    id: "dom_1",
    organizationId: "org_1",
    projectId: "prj_1",
    hostname: "www.example.com",
    type: "custom",
    proof: "abc",
    verifiedAt: null,
    createdAt: new Date(0),
  } as const;
  expect(proofRecord(domain)).toEqual({ name: "_slipway.www.example.com", value: "slipway-verification=abc" });
});
