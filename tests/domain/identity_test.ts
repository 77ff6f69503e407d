import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { actIn, type Identity, normalEmail } from "../../domain/identity/identity.ts";

const FIRST = { organizationId: "org_a", role: "viewer", grants: [] } as const;
const SECOND = {
  organizationId: "org_b",
  role: "restricted",
  grants: [{ resource: "project", id: "p", action: "read" }],
} as const;

function identity(overrides: Partial<Identity> = {}): Identity {
  return {
    userId: "usr_1",
    founder: false,
    credential: { kind: "session", id: "ses_1" },
    expiresAt: null,
    narrowing: null,
    boundTo: null,
    memberships: [FIRST, SECOND],
    ...overrides,
  };
}

describe("actIn()", () => {
  test("lets a session act in the named organization, with the role and grants of that membership", () => {
    expect(actIn(identity(), "org_b")).toEqual({
      userId: "usr_1",
      founder: false,
      credential: { kind: "session", id: "ses_1" },
      expiresAt: null,
      narrowing: null,
      ...SECOND,
    });
  });

  test("lets a session that names none act in the organization joined first", () => {
    expect(actIn(identity(), null)).toMatchObject(FIRST);
  });

  test("lets a token act in its own organization, named or not, with its narrowing and expiry", () => {
    const narrowing = { permissions: ["project:read"], grants: [] } as const;
    const expiresAt = new Date(5);
    const token = identity({
      boundTo: "org_b",
      credential: { kind: "token", id: "tok_1" },
      narrowing,
      expiresAt,
      founder: true,
    });
    for (const named of [null, "org_b"]) {
      expect(actIn(token, named)).toEqual({
        userId: "usr_1",
        founder: true,
        credential: { kind: "token", id: "tok_1" },
        narrowing,
        expiresAt,
        ...SECOND,
      });
    }
  });

  test("hides from a token every organization except its own, even one its owner belongs to", () => {
    const token = identity({ boundTo: "org_b" });
    for (const named of ["org_a", "org_unknown"]) {
      expect(() => actIn(token, named)).toThrow(expect.objectContaining({ code: "organization_not_found" }));
    }
  });

  test("hides from a session an organization without a membership as not found", () => {
    expect(() => actIn(identity(), "org_c")).toThrow(
      expect.objectContaining({ kind: "not_found", code: "organization_not_found" }),
    );
  });

  test("does not identify a session without any membership left", () => {
    for (const named of [null, "org_a"]) {
      expect(() => actIn(identity({ memberships: [] }), named)).toThrow(
        expect.objectContaining({ kind: "unauthenticated" }),
      );
    }
  });

  test("does not identify a token whose owner's membership ended", () => {
    const token = identity({ boundTo: "org_gone" });
    for (const named of [null, "org_gone"]) {
      expect(() => actIn(token, named)).toThrow(expect.objectContaining({ kind: "unauthenticated" }));
    }
  });
});

describe("normalEmail()", () => {
  test.each([
    ["Ada@Example.COM", "ada@example.com"],
    ["  ada@example.com\n", "ada@example.com"],
    ["a+tag@sub.example.com", "a+tag@sub.example.com"],
    ["owner@localhost", "owner@localhost"],
    ["o'brien@example.com", "o'brien@example.com"],
    ["用户@例子.公司", "用户@例子.公司"],
    ["jose\u0301@example.com", "jos\u00e9@example.com"],
  ])("normalizes %j to %j", (text, expected) => {
    expect(normalEmail(text)).toBe(expected);
  });

  test.each([
    "",
    "ada",
    "@example.com",
    "ada@",
    "a@b@c",
    "a b@example.com",
    "ada@exam ple.com",
    "ada@example.com\nBcc: eve@example.com",
    "Ada <ada@example.com>",
    "ada@example.com,eve@example.com",
    "ada@example.com;eve@example.com",
    '"ada"@example.com',
    "ada\\@example.com",
    "ada\0@example.com",
    `${"a".repeat(65)}@example.com`,
    `a@${"b".repeat(256)}`,
  ])("refuses %j", (text) => {
    expect(normalEmail(text)).toBeUndefined();
  });

  test("is idempotent", () => {
    const parts = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(parts, parts, (name, host) => {
        const email = normalEmail(`${name}@${host}`);
        if (email !== undefined) expect(normalEmail(email)).toBe(email);
      }),
      { numRuns: 2_000 },
    );
  });
});
