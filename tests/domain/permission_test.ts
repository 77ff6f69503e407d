import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { Failure } from "../../domain/failure.ts";
import {
  type Action,
  ACTIONS,
  allows,
  allowsSomewhere,
  covers,
  coversGrant,
  demand,
  type Grant,
  type Narrowing,
  type Permission,
  type Principal,
  refuseLink,
  RESOURCES,
  type Resource,
  type Role,
  ROLES,
  type Target,
  visibleIds,
} from "../../domain/identity/permission.ts";

function principal(overrides: Partial<Principal> = {}): Principal {
  return {
    userId: "usr_1",
    organizationId: "org_1",
    role: "restricted",
    grants: [],
    founder: false,
    credential: { kind: "session", id: "ses_1" },
    narrowing: null,
    expiresAt: null,
    ...overrides,
  };
}

function grant(resource: Resource, id: string, action: Action): Grant {
  return { resource, id, action };
}

/** The highest action of each role, in the order of `RESOURCES`; this is the documented table. */
const TABLE: Readonly<Record<Role, readonly (Action | "none")[]>> = {
  owner: ["admin", "admin", "admin", "admin", "admin", "admin", "admin"],
  admin: ["admin", "admin", "admin", "admin", "admin", "admin", "read"],
  developer: ["write", "read", "write", "read", "write", "read", "read"],
  viewer: ["read", "read", "read", "read", "read", "read", "read"],
  restricted: ["none", "none", "none", "none", "none", "none", "none"],
};

const EVERY_PERMISSION = RESOURCES.flatMap((resource) => ACTIONS.map((action): Permission => `${resource}:${action}`));

describe("roles", () => {
  const cases = ROLES.flatMap((role) =>
    RESOURCES.flatMap((resource, column) =>
      ACTIONS.map((action, rank) => {
        const most = TABLE[role][column]!;
        return {
          role,
          permission: `${resource}:${action}` as const,
          held: most !== "none" && rank <= ACTIONS.indexOf(most),
        };
      }),
    ),
  );

  test.each(cases)("allows() of a $role for $permission is $held, for all resources and for one", (row) => {
    const by = principal({ role: row.role });
    expect(allows(by, row.permission)).toBe(row.held);
    expect(allows(by, row.permission, { id: "x" })).toBe(row.held);
    expect(allowsSomewhere(by, row.permission)).toBe(row.held);
  });

  test("the resources are those of the documented table", () => {
    expect(RESOURCES).toEqual([
      "deployment",
      "backup_destination",
      "githost",
      "server",
      "project",
      "member",
      "organization",
    ]);
  });
});

describe("link tokens", () => {
  const LINK = ["admin", "none", "write", "none", "admin", "none", "none"] as const;
  const credential = { kind: "token", id: "tok_1", link: true } as const;
  const cases = RESOURCES.flatMap((resource, column) =>
    ACTIONS.map((action, rank) => {
      const most = LINK[column]!;
      const held = most !== "none" && rank <= ACTIONS.indexOf(most);
      return { permission: `${resource}:${action}` as const, resource, held };
    }),
  );

  test.each(cases)("of an owner hold $permission: $held", ({ permission, resource, held }) => {
    const by = principal({ role: "owner", grants: [grant(resource, "*", "admin")], founder: true, credential });
    expect(allows(by, permission)).toBe(held);
    expect(allows(by, permission, { id: "x" })).toBe(held);
    expect(allowsSomewhere(by, permission)).toBe(held);
    if (held) expect(refuseLink(by, permission)).toBeUndefined();
    else expect(() => refuseLink(by, permission)).toThrow("Cannot do this with a link token");
  });

  test("hold no more than the role of their owner", () => {
    const by = principal({ role: "viewer", credential });
    expect(allows(by, "project:read")).toBe(true);
    expect(allows(by, "project:write")).toBe(false);
  });

  test("are refused where the caller itself is meant; other credentials are not", () => {
    expect(() => refuseLink(principal({ role: "owner", credential }), "self")).toThrow(Failure);
    expect(refuseLink(principal({ role: "owner" }), "self")).toBeUndefined();
    expect(refuseLink(principal({ role: "owner" }), "member:admin")).toBeUndefined();
  });
});

describe("grants", () => {
  test.each(EVERY_PERMISSION)("a grant of %s includes the lower actions, on that resource only", (permission) => {
    const [resource, action] = permission.split(":") as [Resource, Action];
    const by = principal({ grants: [grant(resource, "a", action)] });
    for (const [rank, requested] of ACTIONS.entries()) {
      const expected = rank <= ACTIONS.indexOf(action);
      expect(allows(by, `${resource}:${requested}`, { id: "a" })).toBe(expected);
      expect(allowsSomewhere(by, `${resource}:${requested}`)).toBe(expected);
      expect(allows(by, `${resource}:${requested}`, { id: "b" })).toBe(false);
      expect(allows(by, `${resource}:${requested}`)).toBe(false);
    }
  });

  test("a grant on * covers every resource of its kind and the kind as a whole", () => {
    const by = principal({ grants: [grant("server", "*", "write")] });
    expect(allows(by, "server:write")).toBe(true);
    expect(allows(by, "server:write", { id: "any" })).toBe(true);
    expect(allows(by, "server:admin", { id: "any" })).toBe(false);
    expect(allows(by, "project:list")).toBe(false);
  });

  test("a resource named * gets nothing from a grant on another one", () => {
    expect(allows(principal({ grants: [grant("server", "a", "write")] }), "server:read", { id: "*" })).toBe(false);
  });

  test("a grant on a project covers its deployments and no others", () => {
    const by = principal({ grants: [grant("project", "p", "write")] });
    expect(allows(by, "deployment:write", { id: "d", projectId: "p" })).toBe(true);
    expect(allows(by, "deployment:admin", { id: "d", projectId: "p" })).toBe(false);
    expect(allows(by, "deployment:list", { id: "d", projectId: "q" })).toBe(false);
    expect(allows(by, "deployment:list", { id: "d" })).toBe(false);
    expect(allows(by, "deployment:list", { id: "p" })).toBe(false);
    expect(allows(by, "deployment:list")).toBe(false);
    expect(allowsSomewhere(by, "deployment:write")).toBe(true);
    expect(allowsSomewhere(by, "deployment:admin")).toBe(false);
  });

  test("a grant on all projects covers all deployments", () => {
    const by = principal({ grants: [grant("project", "*", "read")] });
    expect(allows(by, "deployment:read")).toBe(true);
    expect(allows(by, "deployment:read", { id: "d", projectId: "p" })).toBe(true);
  });

  test("a grant on a deployment does not reach its project", () => {
    const by = principal({ grants: [grant("deployment", "d", "admin")] });
    expect(allows(by, "deployment:admin", { id: "d", projectId: "p" })).toBe(true);
    expect(allows(by, "project:list", { id: "p" })).toBe(false);
    expect(allowsSomewhere(by, "project:list")).toBe(false);
  });

  test("a grant on an owner at the git host covers its repositories, but no owner with a longer name", () => {
    const by = principal({ grants: [grant("githost", "acme", "read")] });
    expect(allows(by, "githost:read", { id: "acme" })).toBe(true);
    expect(allows(by, "githost:read", { id: "acme/shop" })).toBe(true);
    expect(allows(by, "githost:read", { id: "acme-two/shop" })).toBe(false);
    expect(allows(by, "githost:read", { id: "acm" })).toBe(false);
    const repository = principal({ grants: [grant("githost", "acme/shop", "read")] });
    expect(allows(repository, "githost:read", { id: "acme" })).toBe(false);
    expect(allows(repository, "githost:read", { id: "acme/shop-two" })).toBe(false);
  });

  test("a / in the id of another kind has no meaning", () => {
    const by = principal({ grants: [grant("server", "a", "read")] });
    expect(allows(by, "server:read", { id: "a/b" })).toBe(false);
  });

  test("grants add to a role", () => {
    const by = principal({ role: "viewer", grants: [grant("server", "s", "admin")] });
    expect(allows(by, "server:admin", { id: "s" })).toBe(true);
    expect(allows(by, "server:read", { id: "t" })).toBe(true);
    expect(allows(by, "server:write", { id: "t" })).toBe(false);
  });
});

describe("narrowing", () => {
  test("an empty narrowing leaves an owner no permission", () => {
    const by = principal({ role: "owner", narrowing: { permissions: [], grants: [] } });
    for (const permission of EVERY_PERMISSION) {
      expect(allows(by, permission, { id: "x", projectId: "p" })).toBe(false);
      expect(allowsSomewhere(by, permission)).toBe(false);
    }
  });

  test("a listed permission includes only the lower ones of its resource", () => {
    const by = principal({ role: "owner", narrowing: { permissions: ["deployment:write"], grants: [] } });
    const held = EVERY_PERMISSION.filter((permission) => allows(by, permission));
    expect(held).toEqual(["deployment:list", "deployment:read", "deployment:write"]);
  });

  test("a listed project permission does not include deployments", () => {
    const by = principal({ role: "owner", narrowing: { permissions: ["project:admin"], grants: [] } });
    expect(allows(by, "deployment:list", { id: "d", projectId: "p" })).toBe(false);
  });

  test("a project grant leaves that project and its deployments", () => {
    const narrowing = { permissions: [], grants: [grant("project", "p", "write")] };
    const by = principal({ role: "owner", narrowing });
    expect(allows(by, "project:write", { id: "p" })).toBe(true);
    expect(allows(by, "deployment:write", { id: "d", projectId: "p" })).toBe(true);
    expect(allows(by, "project:write", { id: "q" })).toBe(false);
    expect(allows(by, "deployment:write", { id: "d", projectId: "q" })).toBe(false);
  });

  test("narrowing adds nothing to a role or to grants", () => {
    const narrowing: Narrowing = { permissions: ["server:admin"], grants: [grant("project", "*", "admin")] };
    const by = principal({ role: "viewer", narrowing });
    expect(allows(by, "server:read")).toBe(true);
    expect(allows(by, "server:write")).toBe(false);
    expect(allows(by, "project:write", { id: "p" })).toBe(false);
    expect(allowsSomewhere(by, "project:write")).toBe(false);
  });
});

describe("demand()", () => {
  test("accepts a holder of the permission", () => {
    expect(demand(principal({ role: "viewer" }), "project:read", { id: "p" })).toBeUndefined();
  });

  test("refuses others and names the permission", () => {
    const refusal = capture(() => demand(principal({ role: "viewer" }), "project:write", { id: "p" }));
    expect(refusal).toMatchObject({ kind: "forbidden", code: "forbidden" });
    expect(refusal.message).toContain('"project:write"');
  });
});

describe("visibleIds()", () => {
  test("is all for a caller whose role or grant on * covers the kind", () => {
    expect(visibleIds(principal({ role: "viewer" }), "project:list")).toBe("all");
    expect(visibleIds(principal({ grants: [grant("project", "*", "list")] }), "project:list")).toBe("all");
  });

  test("returns the ids that grants of the right kind and action cover, each once", () => {
    const grants = [
      grant("project", "a", "list"),
      grant("project", "a", "admin"),
      grant("project", "b", "read"),
      grant("server", "c", "admin"),
    ];
    expect(visibleIds(principal({ grants }), "project:list")).toEqual(["a", "b"]);
    expect(visibleIds(principal({ grants }), "project:write")).toEqual(["a"]);
  });

  test("returns the ids that the narrowing of a caller with a wide role leaves", () => {
    const narrowing = { permissions: [], grants: [grant("project", "a", "read")] };
    expect(visibleIds(principal({ role: "owner", narrowing }), "project:read")).toEqual(["a"]);
    expect(visibleIds(principal({ role: "owner", narrowing }), "project:write")).toEqual([]);
  });

  test("returns only ids that grants and narrowing both cover", () => {
    const grants = [grant("project", "a", "read"), grant("project", "b", "read")];
    const narrowing = { permissions: [], grants: [grant("project", "b", "read"), grant("project", "c", "read")] };
    expect(visibleIds(principal({ grants, narrowing }), "project:read")).toEqual(["b"]);
  });

  test("is empty for a caller without permissions", () => {
    expect(visibleIds(principal(), "project:list")).toEqual([]);
  });
});

describe("covers()", () => {
  test("lets every role give itself and the lower ones, and none above", () => {
    const given = ROLES.map((role) => ROLES.filter((other) => covers(principal({ role }), other, [])));
    expect(given).toEqual([
      ["owner", "admin", "developer", "viewer", "restricted"],
      ["admin", "developer", "viewer", "restricted"],
      ["developer", "viewer", "restricted"],
      ["viewer", "restricted"],
      ["restricted"],
    ]);
  });

  test("checks the grants too", () => {
    const by = principal({ role: "developer" });
    expect(covers(by, "viewer", [grant("project", "p", "write")])).toBe(true);
    expect(covers(by, "viewer", [grant("project", "p", "write"), grant("server", "s", "write")])).toBe(false);
    expect(covers(by, "restricted", [grant("project", "*", "admin")])).toBe(false);
  });

  test("counts the permissions of the narrowed credential, not of its owner", () => {
    const narrowing: Narrowing = { permissions: ["member:admin", "project:read"], grants: [] };
    const by = principal({ role: "owner", narrowing });
    expect(covers(by, "viewer", [])).toBe(false);
    expect(covers(by, "restricted", [grant("member", "*", "admin")])).toBe(true);
    expect(covers(by, "restricted", [grant("server", "s", "list")])).toBe(false);
  });

  test("coversGrant() refuses a project grant that would open deployments beyond the caller's permissions", () => {
    const projectsOnly: Narrowing = { permissions: ["project:admin"], grants: [] };
    const by = principal({ role: "owner", narrowing: projectsOnly });
    expect(allows(by, "project:admin", { id: "p" })).toBe(true);
    expect(coversGrant(by, grant("project", "p", "admin"))).toBe(false);
    expect(coversGrant(by, grant("project", "*", "list"))).toBe(false);
  });

  test("coversGrant() does not treat a grant with an empty id as one on every deployment", () => {
    const narrowing: Narrowing = { permissions: ["project:read"], grants: [grant("deployment", "", "list")] };
    const by = principal({ role: "owner", narrowing });
    expect(coversGrant(by, grant("project", "p", "list"))).toBe(false);
  });

  test("coversGrant() lets the holder of a grant pass it on", () => {
    for (const held of [
      grant("project", "p", "write"),
      grant("project", "*", "write"),
      grant("githost", "a", "read"),
    ]) {
      expect(coversGrant(principal({ grants: [held] }), held)).toBe(true);
    }
  });

  test("coversGrant() does not let a grant on one resource be passed on as one on all", () => {
    const by = principal({ grants: [grant("server", "s", "admin")] });
    expect(coversGrant(by, grant("server", "*", "list"))).toBe(false);
  });
});

describe("for every principal", () => {
  const resource = fc.constantFrom(...RESOURCES);
  const action = fc.constantFrom(...ACTIONS);
  const permission = fc.constantFrom(...EVERY_PERMISSION);
  // Few ids, so that grants often match targets.
  const id = fc.constantFrom("*", "a", "b", "a/b", "p", "q", "");
  const grants = fc.array(fc.record({ resource, id, action }), { maxLength: 4 });
  const narrowing = fc.record({ permissions: fc.array(permission, { maxLength: 5 }), grants });
  const role = fc.constantFrom(...ROLES);
  const anyone = fc
    .record({ role, grants, narrowing: fc.option(narrowing) })
    .map((overrides): Principal => principal(overrides));
  const target = fc.option(
    fc
      .record({ id, projectId: fc.option(id, { nil: undefined }) })
      .map(({ id: named, projectId }): Target => ({ id: named, ...(projectId !== undefined && { projectId }) })),
    { nil: undefined },
  );

  test("narrowing never adds a permission", () => {
    fc.assert(
      fc.property(anyone, permission, target, (by, requested, on) => {
        const whole = { ...by, narrowing: null };
        expect(allows(by, requested, on) && !allows(whole, requested, on)).toBe(false);
        expect(allowsSomewhere(by, requested) && !allowsSomewhere(whole, requested)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test("what is allowed on one resource is allowed somewhere, and what is allowed on all is allowed on each", () => {
    fc.assert(
      fc.property(anyone, permission, target, (by, requested, on) => {
        if (allows(by, requested, on)) expect(allowsSomewhere(by, requested)).toBe(true);
        if (allows(by, requested)) expect(allows(by, requested, on)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test("an action includes the ones below it", () => {
    fc.assert(
      fc.property(anyone, resource, target, (by, kind, on) => {
        const held = ACTIONS.map((requested) => allows(by, `${kind}:${requested}`, on));
        expect(held).toEqual(held.toSorted((a, b) => Number(b) - Number(a)));
      }),
    );
  });

  test("covers() never accepts a role and grants that allow more", () => {
    fc.assert(
      fc.property(anyone, fc.tuple(role, grants), permission, target, (by, [given, extra], requested, on) => {
        fc.pre(covers(by, given, extra));
        const receiver = principal({ role: given, grants: extra });
        if (allows(receiver, requested, on)) expect(allows(by, requested, on)).toBe(true);
      }),
      { numRuns: 3_000, maxSkipsPerRun: 1_000 },
    );
  });

  test("visibleIds() returns exactly the ids that allows() allows", () => {
    fc.assert(
      fc.property(anyone, permission, (by, requested) => {
        const visible = visibleIds(by, requested);
        if (visible === "all") return expect(allows(by, requested)).toBe(true);
        expect(allows(by, requested)).toBe(false);
        const [kind] = requested.split(":");
        const reachable = ["a", "b", "a/b", "p", "q", ""].filter((named) => allows(by, requested, { id: named }));
        expect(visible.every((named) => reachable.includes(named))).toBe(true);
        // A git host grant on an owner also covers repositories that no grant names.
        if (kind !== "githost") expect(visible.toSorted()).toEqual(reachable.toSorted());
      }),
      { numRuns: 1_000 },
    );
  });
});

function capture(act: () => void): Failure {
  try {
    act();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error("Nothing was refused");
}
