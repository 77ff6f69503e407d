import { describe, expect, test } from "bun:test";
import { ArgonPasswords } from "../../adapters/crypto/passwords.ts";
import { ACCESS_TABLE, CALLERS } from "../support/inputs/access_table.ts";
import { browser, login, member } from "../support/apps/app.ts";
import { expectHidden } from "../support/expect_hidden.ts";
import { callers, furnish, goodRequest, MACHINE } from "../support/apps/furnished.ts";
import { fuzzRoutes } from "../support/inputs/fuzz_routes.ts";
import { CANARY } from "../support/inputs/odd_requests.ts";
import { postgresApp } from "../support/database/postgres_app.ts";
import { emptyCloud } from "../support/servers/empty_cloud.ts";
import { dump } from "../support/database/query.ts";

const SEED = 20_260_214;

function canary(): string {
  return `canary-${crypto.randomUUID()}`;
}

describe("over PostgreSQL", () => {
  // Tested separately, so that the others still find what these remove.
  const removing = ACCESS_TABLE.filter(({ method }) => method === "DELETE").toReversed();
  const keeping = ACCESS_TABLE.filter(({ method }) => method !== "DELETE");

  test.each([
    { what: "route that does not delete", rows: keeping },
    { what: "route that deletes", rows: removing },
  ])("every $what answers every kind of caller according to the table", async ({ rows }) => {
    await using app = await postgresApp();
    app.world.remoteHosts.add(MACHINE);
    const [ids, tokens] = [await furnish(app), await callers(app)];
    for (const { route, method, path, statuses } of rows) {
      const answers: number[] = [];
      for (const who of CALLERS) {
        const { path: filled, call } = goodRequest(method, path, ids, who);
        const token = tokens[who];
        answers.push((await app.call(method, filled, { ...call, ...(token && { token }) })).status);
      }
      expect({ route, answers }).toEqual({ route, answers: [...statuses] });
    }
  });

  test(`no route fails or leaks a secret for random input, and none is stored in plain text (seed ${SEED})`, async () => {
    await using app = await postgresApp();
    const { handle, routes, owner, world } = app;
    world.remoteHosts.add(MACHINE);
    await fuzzRoutes({ handle, routes, owner, world }, { seed: SEED, runs: 15 });
    expect(world.log.lines.filter(({ level }) => level === "error")).toEqual([]);
    expectHidden(await dump(app.url), { canary: CANARY });
  });

  test("no secret is readable in the database", async () => {
    await using app = await postgresApp({ replace: { passwords: new ArgonPasswords() } });
    const { call, owner: token } = app;
    app.world.cloudApi.clouds.set("https://cloud.example.com", emptyCloud);
    const secrets = {
      variable: canary(),
      "plain variable": canary(),
      "server's password": canary(),
      "cloud token": canary(),
      password: canary(),
      "changed password": canary(),
    };
    const expectDone = async (answer: ReturnType<typeof call>) => expect((await answer).status).toBeLessThan(300);
    const project = await call("POST", "/api/projects", { token, body: { name: "Harbour" } });
    const upserts = [
      { key: "A", value: secrets.variable, secret: true },
      { key: "B", value: secrets["plain variable"], secret: false },
    ];
    const headers = { "idempotency-key": "one" };
    const path = `/api/projects/${project.body.data.id}/env`;
    await expectDone(call("PATCH", path, { token, body: { upserts }, headers }));
    const server = {
      name: "Berlin",
      sshHost: "h.example.com",
      sshUser: "x",
      sshPassword: secrets["server's password"],
    };
    await expectDone(call("POST", "/api/servers", { token, body: server, headers }));
    const link = { url: "https://cloud.example.com", token: secrets["cloud token"] };
    await expectDone(call("PUT", "/api/cloud/link", { token, body: link, headers }));
    await expectDone(call("POST", "/api/auth/password", { token, body: { password: secrets.password }, headers }));
    const cookie = await login(app, "owner@localhost", secrets.password);
    const change = { password: secrets["changed password"], current: secrets.password };
    await expectDone(call("POST", "/api/auth/password", { ...browser(cookie), body: change }));
    const minted = await call("POST", "/api/tokens", { token, body: { name: "t" }, headers });
    const invitation = { email: "someone@example.com", role: "viewer" };
    const invited = await call("POST", "/api/members", { token, body: invitation, headers });
    const joined = await member(app, "developer");
    const all = {
      ...secrets,
      cookie,
      "first token": token,
      "minted token": minted.body.data.token as string,
      invitation: invited.body.data.token as string,
      "member's password": joined.password,
      "member's token": joined.token,
      "member's cookie": joined.cookie,
    };
    const stored = await dump(app.url);
    for (const known of ["Harbour", "Berlin", "someone@example.com", "idempotent_answers"]) {
      expect(stored).toContain(known);
    }
    expectHidden(stored, all);
    expectHidden(app.world.log.lines.map(({ text }) => text).join("\n"), all);
  });
});
