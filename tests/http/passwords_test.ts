import { describe, expect, test } from "bun:test";
import { browser, login, member, memoryApp, ownerSession } from "../support/apps/app.ts";

const NEW = "another long password";

/** For tests whose requests are all refused. */
const untouched = memoryApp();

describe("POST /api/auth/password", () => {
  test("sets the first owner's password by token, which then opens a session", async () => {
    const app = await memoryApp();
    const before = await app.call("GET", "/api/auth/me", { token: app.owner });
    expect(before.body.data.user.hasPassword).toBe(false);
    const answer = await app.call("POST", "/api/auth/password", { token: app.owner, body: { password: NEW } });
    expect(answer.body).toEqual({ success: true });
    expect(await login(app, "owner@localhost", NEW)).toBeString();
  });

  test("lets the first owner recover by token without the current password, and ends all sessions", async () => {
    const app = await memoryApp();
    const cookie = await ownerSession(app);
    expect((await app.call("POST", "/api/auth/password", { token: app.owner, body: { password: NEW } })).status).toBe(
      200,
    );
    expect((await app.call("GET", "/api/auth/me", { cookie })).status).toBe(401);
    expect(await login(app, "owner@localhost", NEW)).toBeString();
  });

  test("requires the current password of all others, including the first owner's session", async () => {
    const app = await memoryApp();
    const cookie = await ownerSession(app);
    const viewer = await member(app, "viewer");
    for (const as of [browser(cookie), browser(viewer.cookie), { token: viewer.token }]) {
      for (const body of [{ password: NEW }, { password: NEW, current: "wrong password" }]) {
        const answer = await app.call("POST", "/api/auth/password", { ...as, body });
        expect(answer.status).toBe(403);
        expect(answer.body.code).toBe("wrong_password");
      }
    }
    expect(await login(app, viewer.email, viewer.password)).toBeString();
  });

  test("ends the other sessions and keeps the one in use; the old password is no longer valid", async () => {
    const app = await memoryApp();
    const viewer = await member(app, "viewer");
    const used = await login(app, viewer.email, viewer.password);
    const body = { password: NEW, current: viewer.password };
    expect((await app.call("POST", "/api/auth/password", { ...browser(used), body })).status).toBe(200);
    expect((await app.call("GET", "/api/auth/me", { cookie: used })).status).toBe(200);
    expect((await app.call("GET", "/api/auth/me", { cookie: viewer.cookie })).status).toBe(401);
    expect((await app.call("GET", "/api/auth/me", { token: viewer.token })).status).toBe(200);
    await expect(login(app, viewer.email, viewer.password)).rejects.toThrow("401");
  });

  test("throttles guesses at the current password", async () => {
    const app = await memoryApp();
    const viewer = await member(app, "viewer");
    const guess = (current: string) =>
      app.call("POST", "/api/auth/password", { token: viewer.token, body: { password: NEW, current } });
    for (let attempt = 0; attempt < 10; attempt++) expect((await guess("wrong password")).status).toBe(403);
    const answer = await guess(viewer.password);
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("60");
  });

  test.each([
    ["nine characters", "123456789", 400],
    ["ten characters", "1234567890", 200],
    ["200 characters", "x".repeat(200), 200],
    ["201 characters", "x".repeat(201), 400],
    ["no characters", "", 400],
    ["characters of all kinds", "пароль 密码 🔑 '\"\\", 200],
  ])("validates a password by its length: %s", async (_, password, status) => {
    const app = await memoryApp();
    const answer = await app.call("POST", "/api/auth/password", { token: app.owner, body: { password } });
    expect(answer.status).toBe(status);
    if (status === 200) expect(await login(app, "owner@localhost", password)).toBeString();
    else expect(answer.body.details[0].path).toBe("password");
  });

  test("is refused to a narrowed token, even of the first owner", async () => {
    const app = await memoryApp();
    const body = { name: "narrow", permissions: ["organization:admin"] };
    const { token } = (await app.call("POST", "/api/tokens", { token: app.owner, body })).body.data;
    const answer = await app.call("POST", "/api/auth/password", { token, body: { password: NEW } });
    expect(answer.status).toBe(403);
    expect(answer.body.code).toBe("narrowed_token");
  });
});

describe("PATCH /api/auth/me", () => {
  test("changes name and address; the new address logs in, the old one does not", async () => {
    const app = await memoryApp();
    const viewer = await member(app, "viewer");
    const body = { name: "  Ada  ", email: " ADA@Example.com ", current: viewer.password };
    const answer = await app.call("PATCH", "/api/auth/me", { token: viewer.token, body });
    expect(answer.body.data).toMatchObject({ id: viewer.userId, name: "Ada", email: "ada@example.com" });
    expect(await login(app, "ada@example.com", viewer.password)).toBeString();
    await expect(login(app, viewer.email, viewer.password)).rejects.toThrow("401");
  });

  test("keeps omitted fields", async () => {
    const app = await memoryApp();
    const before = await app.call("GET", "/api/auth/me", { token: app.owner });
    const answer = await app.call("PATCH", "/api/auth/me", { token: app.owner, body: {} });
    expect(answer.body.data).toEqual(before.body.data.user);
  });

  test("refuses an address of another user with 409, in any spelling", async () => {
    const app = await memoryApp();
    const viewer = await member(app, "viewer");
    const body = { email: "Owner@LocalHost", current: viewer.password };
    expect((await app.call("PATCH", "/api/auth/me", { token: viewer.token, body })).status).toBe(409);
  });

  test.each([undefined, "wrong password"])(
    "refuses another address with %p as the current password",
    async (current) => {
      const app = await memoryApp();
      const viewer = await member(app, "viewer");
      const body = { email: "mine@example.com", ...(current && { current }) };
      const answer = await app.call("PATCH", "/api/auth/me", { token: viewer.token, body });
      expect(answer.status).toBe(403);
      expect(answer.body.code).toBe("wrong_password");
      expect(await login(app, viewer.email, viewer.password)).toBeString();
    },
  );

  test("limits how often it reveals that an address is taken", async () => {
    const app = await memoryApp();
    const viewer = await member(app, "viewer");
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 12; attempt++) {
      const body = { email: "owner@localhost", current: viewer.password };
      statuses.push((await app.call("PATCH", "/api/auth/me", { token: viewer.token, body })).status);
    }
    expect(statuses).toEqual([...Array<number>(10).fill(409), 429, 429]);
  });

  test.each(["no-at", "a@", "@b", "a b@c", "a@b@c", "a\n@b", "<a@b>"])("refuses the address %p", async (email) => {
    const app = await untouched;
    const answer = await app.call("PATCH", "/api/auth/me", { token: app.owner, body: { email } });
    expect(answer.status).toBe(400);
    expect(answer.body.details[0].path).toBe("email");
  });

  test("refuses a blank name", async () => {
    const app = await untouched;
    expect((await app.call("PATCH", "/api/auth/me", { token: app.owner, body: { name: " \t" } })).status).toBe(400);
  });
});

describe("the recovery of the first owner", () => {
  test("works with its own token, and with no other that the first owner created", async () => {
    const app = await memoryApp();
    await app.call("POST", "/api/auth/password", { token: app.owner, body: { password: "the first password" } });
    const minted = await app.call("POST", "/api/tokens", { token: app.owner, body: { name: "ci" } });
    const body = { password: "a stolen password" };
    const refused = await app.call("POST", "/api/auth/password", { token: minted.body.data.token, body });
    expect(refused.status).toBe(403);
    expect((await app.call("POST", "/api/auth/password", { token: app.owner, body })).status).toBe(200);
  });

  test("restores the organization for a first owner who was removed from it", async () => {
    const app = await memoryApp();
    const me = await app.call("GET", "/api/auth/me", { token: app.owner });
    const second = await member(app, "owner");
    const path = `/api/members/${me.body.data.user.id}`;
    expect((await app.call("DELETE", path, { token: second.token })).status).toBe(200);
    expect((await app.call("GET", "/api/auth/me", { token: app.owner })).status).toBe(401);
    await app.useCases.claimInstallation("slp_configured_by_the_operator");
    const back = await app.call("GET", "/api/auth/me", { token: "slp_configured_by_the_operator" });
    expect(back.body.data.role).toBe("owner");
  });
});
