import { describe, expect, test } from "bun:test";
import { type Call, memoryApp, ownerSession, type TestApp } from "../support/apps/app.ts";
import { eventually } from "../support/eventually.ts";
import { failing } from "../support/faults/failing.ts";
import { intercepted } from "../support/faults/intercepted.ts";

const EMAIL = "owner@localhost";
const PASSWORD = "correct horse battery";

interface Entry {
  readonly userId: string;
  readonly credential: { readonly kind: string; readonly id: string };
  readonly action: string;
  readonly target: string | null;
  readonly from: string;
  readonly requestId: string;
  readonly outcome: string;
}

async function entries({ call, owner }: TestApp, action: string): Promise<Entry[]> {
  return (await call("GET", `/api/audit?perPage=100&action=${action}`, { token: owner })).body.data;
}

/** An application whose first owner has a password, and a function to log in. */
async function scene(replace: Parameters<typeof memoryApp>[1] = () => ({})) {
  const app = await memoryApp({}, replace);
  await app.call("POST", "/api/auth/password", { token: app.owner, body: { password: PASSWORD } });
  const logIn = (password = PASSWORD, email = EMAIL, call: Call = {}) =>
    app.call("POST", "/api/auth/login", { body: { email, password }, ...call });
  return { app, logIn };
}

describe("logging in", () => {
  test("is recorded before there is a session", async () => {
    const seen: Entry[][] = [];
    const { app, logIn } = await scene(({ sessions }) => ({
      sessions: intercepted(sessions, "create", async (goOn) => {
        seen.push(await entries(app, "auth.login"));
        return goOn();
      }),
    }));
    expect((await logIn()).status).toBe(200);
    expect(seen).toMatchObject([[{ outcome: "started", target: expect.stringMatching(/^ses_/) }]]);
    expect(await entries(app, "auth.login")).toMatchObject([{ outcome: "succeeded", target: seen[0]![0]!.target! }]);
  });

  test("that fails half-way is recorded as failed", async () => {
    const { app, logIn } = await scene(({ sessions }) => ({ sessions: failing(sessions, "create") }));
    expect((await logIn()).status).toBe(500);
    expect(await entries(app, "auth.login")).toMatchObject([{ outcome: "failed" }]);
  });

  test("opens no session when it cannot be recorded", async () => {
    let created = 0;
    const { app, logIn } = await scene(({ auditLog, sessions }) => ({
      auditLog: intercepted(auditLog, "record", (goOn, [entry]) =>
        (entry as Entry).action === "auth.login" ? Promise.reject(new Error("Broken on purpose")) : goOn(),
      ),
      sessions: intercepted(sessions, "create", (goOn) => {
        created++;
        return goOn();
      }),
    }));
    expect((await logIn()).status).toBe(500);
    expect(created).toBe(0);
    expect(await entries(app, "auth.login")).toEqual([]);
  });

  test("with a wrong password leaves a refused entry in every organization of the user, and no other trace", async () => {
    const { app, logIn } = await scene();
    const { user, organization } = (await app.call("GET", "/api/auth/me", { token: app.owner })).body.data;
    const second = await app.call("POST", "/api/organizations", { token: app.owner, body: { name: "Second" } });
    const headers = { "x-request-id": "guessed-wrong" };
    const wrong = await logIn("wrong", EMAIL, { peer: "192.0.2.66", headers });
    expect(wrong.status).toBe(401);
    expect((await logIn("wrong", "nobody@localhost")).text).toBe(wrong.text);
    const refused = {
      userId: user.id,
      credential: { kind: "password", id: user.id },
      target: null,
      from: "192.0.2.66",
      requestId: "guessed-wrong",
      outcome: "refused",
    };
    for (const id of [organization.id, second.body.data.id]) {
      const inLog = await eventually(
        async () => (await app.world.auditLog.list(id, { action: "auth.login" }, { page: 1, perPage: 9 })).items,
        (items) => items.some(({ outcome }) => outcome === "refused"),
      );
      expect(inLog).toMatchObject([refused]);
    }
  });

  test("that is throttled leaves no further entry", async () => {
    const { app, logIn } = await scene();
    for (let guess = 0; guess < 12; guess++) await logIn("wrong");
    const refused = await eventually(
      () => entries(app, "auth.login"),
      (found) => found.length >= 10 && found.every(({ outcome }) => outcome === "refused"),
    );
    expect(refused).toHaveLength(10);
  });
});

describe("joining", () => {
  const NEWCOMER = { name: "New", password: PASSWORD };

  async function invited(replace: Parameters<typeof memoryApp>[1]) {
    const { app } = await scene(replace);
    const body = { email: "new@example.com", role: "viewer" };
    const { data } = (await app.call("POST", "/api/members", { token: app.owner, body })).body;
    const accept = () => app.call("POST", "/api/auth/accept-invitation", { body: { token: data.token, ...NEWCOMER } });
    return { app, accept };
  }

  test("is recorded before there is a member", async () => {
    const seen: Entry[][] = [];
    const { app, accept } = await invited(({ invitations }) => ({
      invitations: intercepted(invitations, "accept", async (goOn) => {
        seen.push(await entries(app, "member.join"));
        return goOn();
      }),
    }));
    expect((await accept()).status).toBe(200);
    expect(seen).toMatchObject([[{ outcome: "started", credential: { kind: "invitation" } }]]);
    expect(await entries(app, "member.join")).toMatchObject([{ outcome: "succeeded", target: seen[0]![0]!.userId }]);
  });

  const endings: [string, () => Promise<boolean>, number][] = [
    ["fails unexpectedly", () => Promise.reject(new Error("Broken on purpose")), 500],
    ["finds the invitation already accepted", async () => false, 400],
  ];

  test.each(endings)("that %s is recorded as failed", async (_, outcome, status) => {
    const { app, accept } = await invited(({ invitations }) => ({
      invitations: intercepted(invitations, "accept", outcome),
    }));
    expect((await accept()).status).toBe(status);
    expect(await entries(app, "member.join")).toMatchObject([{ outcome: "failed" }]);
  });
});

test("the entry of a login names the session that was opened", async () => {
  const app = await memoryApp();
  const cookie = await ownerSession(app);
  const me = (await app.call("GET", "/api/auth/me", { cookie })).body.data;
  expect(await entries(app, "auth.login")).toMatchObject([{ target: me.credential.id, outcome: "succeeded" }]);
});
