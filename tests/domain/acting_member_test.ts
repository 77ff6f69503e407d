import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { actFor, type ActingMember, readActingMember, writeActingMember } from "../../domain/cloud/acting_member.ts";
import {
  type Action,
  ACTIONS,
  allows,
  allowsSomewhere,
  type Permission,
  type Principal,
  RESOURCES,
  type Resource,
  ROLES,
} from "../../domain/identity/permission.ts";

const ADA: ActingMember = {
  id: "usr_1",
  email: "ada@example.com",
  permissions: ["project:list"],
  grants: [{ resource: "project", id: "prj_1", action: "write" }],
};

function principal(link: boolean, role: Principal["role"] = "owner"): Principal {
  return {
    userId: "usr_owner",
    organizationId: "org_1",
    role,
    grants: [],
    founder: false,
    credential: { kind: "token", id: "tok_1", ...(link && { link }) },
    narrowing: null,
    expiresAt: null,
  };
}

function encoded(value: unknown): string {
  return new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url", omitPadding: true });
}

describe("actFor()", () => {
  test("narrows a link token to the member's rights, in the member's name", () => {
    const { permissions, grants } = ADA;
    expect(actFor(principal(true), writeActingMember(ADA))).toEqual({
      ...principal(true),
      narrowing: { permissions, grants },
      actingFor: { id: "usr_1", email: "ada@example.com" },
    });
  });

  test("leaves a link token without the header as it is", () => {
    expect(actFor(principal(true), null)).toEqual(principal(true));
  });

  test.each(["a member", "nonsense"])("ignores %s with any other credential", (header) => {
    const given = header === "nonsense" ? header : writeActingMember(ADA);
    expect(actFor(principal(false), given)).toEqual(principal(false));
  });

  test("never adds to what the link token may do, whatever the installation claims", () => {
    const resource = fc.constantFrom<Resource>(...RESOURCES);
    const action = fc.constantFrom<Action>(...ACTIONS);
    const permission = fc.tuple(resource, action).map(([one, other]): Permission => `${one}:${other}`);
    const id = fc.constantFrom("*", "a", "b");
    const claimed = fc.record({
      permissions: fc.array(permission),
      grants: fc.array(fc.record({ resource, id, action })),
    });
    fc.assert(
      fc.property(claimed, permission, fc.constantFrom(...ROLES), id, (rights, wanted, role, target) => {
        const link = principal(true, role);
        const acting = actFor(link, writeActingMember({ ...ADA, ...rights }));
        const place = { id: target, projectId: "a" };
        if (allows(acting, wanted, place)) expect(allows(link, wanted, place)).toBe(true);
        if (allows(acting, wanted)) expect(allows(link, wanted)).toBe(true);
        if (allowsSomewhere(acting, wanted)) expect(allowsSomewhere(link, wanted)).toBe(true);
      }),
    );
  });
});

describe("readActingMember()", () => {
  test("reads what writeActingMember() writes, and nothing beside it", () => {
    const email = "zoë@example.com";
    expect(readActingMember(writeActingMember({ ...ADA, email }))).toEqual({ ...ADA, email });
    const [grant] = ADA.grants;
    const more = { ...ADA, role: "owner", grants: [{ ...grant, note: "x" }] };
    expect(readActingMember(encoded(more))).toEqual(ADA);
  });

  test.each([
    ["nothing", ""],
    ["no base64url", "a b"],
    ["no JSON", "aaaa"],
    ["two headers", `${writeActingMember(ADA)}, ${writeActingMember(ADA)}`],
    ["null", encoded(null)],
    ["a list", encoded([ADA])],
    ["no id", encoded({ ...ADA, id: undefined })],
    ["an empty id", encoded({ ...ADA, id: "" })],
    ["a long e-mail address", encoded({ ...ADA, email: "a".repeat(321) })],
    ["a control character", encoded({ ...ADA, email: "a\u0000" })],
    ["half a character", encoded({ ...ADA, email: "\ud800" })],
    ["no grants", encoded({ ...ADA, grants: undefined })],
    ["an unknown permission", encoded({ ...ADA, permissions: ["project:own"] })],
    ["a permission that is no text", encoded({ ...ADA, permissions: [1] })],
    ["a grant without an id", encoded({ ...ADA, grants: [{ resource: "project", action: "read" }] })],
    ["a grant on an unknown resource", encoded({ ...ADA, grants: [{ resource: "moon", id: "x", action: "read" }] })],
    ["half a character in a grant", encoded({ ...ADA, grants: [{ ...ADA.grants[0], id: "\ud800" }] })],
    ["more than 32 kB", encoded({ ...ADA, permissions: Array(3_000).fill("project:list") })],
  ])("refuses %s", (_, header) => {
    expect(() => readActingMember(header)).toThrow('Cannot read the header "slipway-acting-member"');
  });
});
