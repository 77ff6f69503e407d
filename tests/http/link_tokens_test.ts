import { describe, expect, test } from "bun:test";
import { ACTING_MEMBER } from "../../domain/cloud/acting_member.ts";
import type { Permission } from "../../domain/identity/permission.ts";
import { type Call, member, memoryApp, type TestApp } from "../support/apps/app.ts";
import { actingAs, linkedCloud, onProject } from "../support/apps/linked_cloud.ts";

const EVERYTHING: readonly Permission[] = ["deployment:admin", "project:admin", "githost:admin", "member:admin"];

async function mint({ call, owner }: Pick<TestApp, "call" | "owner">, extra: object = {}, as: Call = { token: owner }) {
  return call("POST", "/api/tokens", { ...as, body: { name: "link", link: true, ...extra } });
}

describe("POST /api/tokens with link", () => {
  test("makes a link token in the cloud, for owners, and lists it as one", async () => {
    const app = await memoryApp({ mode: "cloud" });
    app.world.clock.advance(1_000);
    const answer = await mint(app);
    expect([answer.status, answer.body.data]).toMatchObject([201, { link: true, permissions: null, grants: null }]);
    const listed = await app.call("GET", "/api/tokens", { token: app.owner });
    expect(listed.body.data.map(({ name, link }: { name: string; link: boolean }) => [name, link])).toEqual([
      ["link", true],
      ["First owner", false],
    ]);
  });

  test("is refused by a self-hosted installation", async () => {
    const { status, body } = await mint(await memoryApp());
    expect([status, body.code]).toEqual([400, "link_tokens_in_cloud_only"]);
    expect(body.error).toContain("only the hosted cloud makes link tokens");
  });

  test.each([{ permissions: ["project:read"] }, { grants: [] }])(
    "is refused with limits of its own: %j",
    async (limits) => {
      const { status, body } = await mint(await memoryApp({ mode: "cloud" }), limits);
      expect([status, body.error]).toEqual([400, expect.stringContaining("each request brings those of its member")]);
    },
  );

  test("is refused to everyone but owners, and to link tokens themselves", async () => {
    const { app, token } = await linkedCloud();
    const admin = await member(app, "admin");
    expect((await mint(app, {}, { token: admin.token })).body.error).toContain('"organization:admin"');
    for (const headers of [{}, actingAs("usr_1", { permissions: EVERYTHING })])
      for (const link of [true, false])
        expect((await mint(app, { link }, { token, headers })).body.code).toBe("link_token");
  });
});

describe("a link token", () => {
  test("is shown as one by GET /api/auth/me, with the rights of the member that it acts for", async () => {
    const { call, token, owner } = await linkedCloud();
    const plain = (await call("GET", "/api/auth/me", { token })).body.data;
    expect(plain).toMatchObject({ role: "owner", credential: { kind: "token", link: true, permissions: null } });
    expect(plain.organization).toMatchObject({ slug: "default" });
    const headers = actingAs("usr_1", { permissions: ["project:read"] });
    const acting = (await call("GET", "/api/auth/me", { token, headers })).body.data;
    expect(acting.credential).toMatchObject({ link: true, permissions: ["project:read"], grants: [] });
    expect((await call("GET", "/api/auth/me", { token: owner })).body.data.credential.link).toBe(false);
  });

  test("without a member reaches what its owner may do with projects", async () => {
    const { call, token } = await linkedCloud();
    const { status, body } = await call("POST", "/api/projects", { token, body: { name: "Quay" } });
    expect(status).toBe(201);
    expect((await call("DELETE", `/api/projects/${body.data.id}`, { token })).status).toBe(200);
  });

  test("does for a member only what that member may do", async () => {
    const { call, token, owner } = await linkedCloud();
    const make = async (name: string) =>
      (await call("POST", "/api/projects", { token: owner, body: { name } })).body.data.id as string;
    const [one, two] = [await make("One"), await make("Two")];
    const headers = actingAs("usr_1", { grants: onProject(one, "read") });
    const ask = (method: string, path: string, body?: unknown) => call(method, path, { token, headers, body });
    expect((await ask("GET", "/api/projects")).body.data).toMatchObject([{ id: one }]);
    expect((await ask("GET", `/api/projects/${one}`)).status).toBe(200);
    expect((await ask("GET", `/api/projects/${two}`)).status).toBe(403);
    expect((await ask("PATCH", `/api/projects/${one}`, { name: "Mine" })).status).toBe(403);
    const nothing = actingAs("usr_2");
    expect((await call("GET", "/api/projects", { token, headers: nothing })).status).toBe(403);
  });

  test("with an unreadable member is refused; other credentials ignore the header", async () => {
    const { app, call, token, owner } = await linkedCloud();
    const { cookie } = await member(app, "viewer");
    const headers = { [ACTING_MEMBER]: "nonsense" };
    const refused = await call("GET", "/api/auth/me", { token, headers });
    expect([refused.status, refused.body.code]).toEqual([400, "acting_member_unreadable"]);
    for (const as of [{ token: owner }, { cookie }]) {
      expect((await call("GET", "/api/projects", { ...as, headers })).status).toBe(200);
      expect((await call("GET", "/api/projects", { ...as, headers: actingAs("usr_1") })).status).toBe(200);
    }
    expect((await call("GET", "/api/projects", { token: "slp_unknown", headers })).status).toBe(401);
  });

  test("is 401 once it is revoked", async () => {
    const { call, token, tokenId, owner } = await linkedCloud();
    await call("DELETE", `/api/tokens/${tokenId}`, { token: owner });
    expect((await call("GET", "/api/auth/me", { token, headers: actingAs("usr_1") })).status).toBe(401);
  });

  test("replays an answer by Idempotency-Key to the same member only", async () => {
    const { call, token } = await linkedCloud();
    const create = async (id: string) => {
      const headers = { ...actingAs(id, { permissions: ["project:write"] }), "idempotency-key": "the-same" };
      const { headers: answered, body } = await call("POST", "/api/projects", {
        token,
        headers,
        body: { name: "Quay", slug: `quay-${crypto.randomUUID().slice(0, 8)}` },
      });
      return { body, isReplayed: answered.get("idempotency-replayed") === "true" };
    };
    expect((await create("usr_1")).isReplayed).toBe(false);
    expect((await create("usr_2")).body.data).toBeDefined();
    expect((await create("usr_1")).body.code).toBe("idempotency_key_reused");
  });

  test("leaves in the audit log for whom it acted, refusals too", async () => {
    const { call, token, tokenId, owner, world } = await linkedCloud();
    const ask = (headers: Record<string, string>, path: string, body: unknown) => {
      world.clock.advance(1_000);
      return call("POST", path, { token, headers, body });
    };
    await ask(actingAs("usr_1", { permissions: ["project:write"] }), "/api/projects", { name: "Quay" });
    await ask(actingAs("usr_2"), "/api/projects", { name: "Other" });
    await ask({}, "/api/members", { email: "x@example.com", role: "viewer" });
    const { data } = (await call("GET", "/api/audit", { token: owner })).body;
    expect(data.slice(0, 3)).toMatchObject([
      { action: "member.invite", outcome: "refused", actingFor: null },
      { action: "project.create", outcome: "refused", actingFor: { id: "usr_2", email: "usr_2@example.com" } },
      { action: "project.create", outcome: "succeeded", actingFor: { id: "usr_1", email: "usr_1@example.com" } },
    ]);
    for (const entry of data.slice(0, 3)) expect(entry.credential).toEqual({ kind: "token", id: tokenId });
  });
});
