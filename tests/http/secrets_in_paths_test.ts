import { expect, test } from "bun:test";
import { newToken, randomText } from "../../domain/identity/token.ts";
import { memoryApp } from "../support/apps/app.ts";
import { expectHidden } from "../support/expect_hidden.ts";
import { intercepted } from "../support/faults/intercepted.ts";

async function scene() {
  const claimed: unknown[] = [];
  const app = await memoryApp({}, ({ idempotentAnswers }) => ({
    idempotentAnswers: intercepted(idempotentAnswers, "claim", (goOn, given) => {
      claimed.push(given);
      return goOn();
    }),
  }));
  const loggedPaths = () => app.world.log.lines.map(({ text }) => JSON.parse(text).path as string);
  return { app, loggedPaths, claimed };
}

test.each([newToken(), `slp_${"a".repeat(30)}`, randomText()])(
  "%p in the place of an id is stored nowhere",
  async (token) => {
    const { app, loggedPaths, claimed } = await scene();
    const headers = { "idempotency-key": "once" };
    const places = ["/api/tokens/", "/api/projects/folder/upload/"];
    for (const place of places) {
      const method = place === "/api/tokens/" ? "DELETE" : "POST";
      for (const text of [token, encodeURIComponent(token).replace("_", "%5F")]) {
        const answer = await app.call(method, `${place}${text}`, { token: app.owner, headers });
        expect([400, 404]).toContain(answer.status);
      }
    }
    const audit = await app.call("GET", "/api/audit?perPage=100", { token: app.owner });
    expect(claimed).not.toBeEmpty();
    expectHidden(JSON.stringify(claimed) + audit.text, { token });
    expectHidden(app.world.log.lines.map(({ text }) => text).join("\n"), { token });
    expect(loggedPaths().slice(0, 2)).toEqual(["/api/tokens/:id", "/api/tokens/:id"]);
  },
);

test("a token in an unknown path is not logged", async () => {
  const { app, loggedPaths } = await scene();
  const token = newToken();
  for (const path of [`/${token}`, `/api/v2/${token}/x`, `/api/a%2F${token}`, `/api/health/slp%5F${token.slice(4)}`]) {
    await app.call("GET", path);
  }
  await app.call("PUT", `/api/tokens/${token}`);
  expect(loggedPaths()).toEqual(["/…", "/api/v2/…/x", "/api/…", "/api/health/…", "/api/tokens/…"]);
});

test("an id is logged decoded, even when encoded and in an unknown path", async () => {
  const { app, loggedPaths } = await scene();
  const { id } = (await app.call("POST", "/api/projects", { token: app.owner, body: { name: "Harbour" } })).body.data;
  for (const path of [`/api/projects/${id}`, `/api/projects/%70${id.slice(1)}`, `/api/nothing/${id}`]) {
    await app.call("GET", path, { token: app.owner });
  }
  await app.call("GET", `/${"a/".repeat(500)}`);
  const [, plain, disguised, nowhere, long] = loggedPaths();
  expect([plain, disguised, nowhere]).toEqual([`/api/projects/${id}`, `/api/projects/${id}`, `/api/nothing/${id}`]);
  expect(long).toHaveLength(200);
});
