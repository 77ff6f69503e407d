import { describe, expect, test } from "bun:test";
import { seesRepository } from "../../domain/githost/repository_visibility.ts";
import type { Grant, Narrowing, Principal, Role } from "../../domain/identity/permission.ts";

const LINKED = [{ projectId: "prj_1", owner: "Acme", repo: "Shop" }];

function member(role: Role, grants: readonly Grant[] = [], narrowing: Narrowing | null = null): Principal {
  return {
    userId: "usr_1",
    organizationId: "org_1",
    role,
    grants,
    founder: false,
    credential: { kind: "token", id: "tok_1" },
    narrowing,
    expiresAt: null,
  };
}

function seen(by: Principal, name: string, permission: "githost:list" | "githost:admin" = "githost:list"): boolean {
  const [owner = "", repo = ""] = name.split("/");
  return seesRepository(by, permission, LINKED)({ owner, repo });
}

const ON_OWNER: Grant = { resource: "githost", id: "ACME", action: "read" };
const ON_ONE: Grant = { resource: "githost", id: "acme/Secret", action: "read" };
const ON_PROJECT: Grant = { resource: "project", id: "prj_1", action: "read" };

describe("seesRepository()", () => {
  test.each([
    ["owner", member("owner"), ["acme/shop", "acme/secret", "other/x"]],
    ["admin", member("admin"), ["acme/shop", "acme/secret", "other/x"]],
    ["developer", member("developer"), ["acme/shop"]],
    ["viewer", member("viewer"), ["acme/shop"]],
    ["restricted", member("restricted"), []],
    ["viewer with a grant on an owner", member("viewer", [ON_OWNER]), ["acme/shop", "acme/secret"]],
    ["restricted with a grant on one", member("restricted", [ON_ONE]), ["acme/secret"]],
    ["restricted with a grant on the project alone", member("restricted", [ON_PROJECT]), []],
    ["owner's token for one", member("owner", [], { permissions: [], grants: [ON_ONE] }), ["acme/secret"]],
    ["owner's token for projects", member("owner", [], { permissions: ["project:read"], grants: [] }), []],
  ])("%s", (_, by, expected) => {
    const all = ["acme/shop", "acme/secret", "other/x"];
    expect(all.filter((name) => seen(by, name))).toEqual(expected);
    expect(all.filter((name) => seen(by, name.toUpperCase()))).toEqual(expected);
  });

  test("does not take a name that begins like a granted owner for one of its repositories", () => {
    expect(seen(member("restricted", [ON_OWNER]), "acme-two/x")).toBe(false);
  });

  test("demands the permission itself", () => {
    expect(seen(member("developer"), "acme/shop", "githost:admin")).toBe(false);
    expect(seen(member("owner"), "acme/secret", "githost:admin")).toBe(true);
  });
});
