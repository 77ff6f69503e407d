import { expect, test } from "bun:test";
import { memoryApp } from "../support/apps/app.ts";

const PASSWORD = "correct horse battery";

async function scene() {
  const app = await memoryApp();
  const invite = async (email: string) => {
    const body = { email, role: "viewer" };
    return (await app.call("POST", "/api/members", { token: app.owner, body })).body.data.token as string;
  };
  const accept = (token: string, { password = PASSWORD, key = "order-66" } = {}) => {
    const body = { token, name: "New", password };
    return app.call("POST", "/api/auth/accept-invitation", { body, headers: { "idempotency-key": key } });
  };
  return { app, invite, accept };
}

test("accepting an invitation again with the same key returns the first response", async () => {
  const { invite, accept } = await scene();
  const token = await invite("new@example.com");
  const first = await accept(token);
  expect(first.status).toBe(200);
  const again = await accept(token);
  expect([again.status, again.text, again.headers.get("idempotency-replayed")]).toEqual([200, first.text, "true"]);
  const other = await accept(token, { password: "another long password" });
  expect([other.status, other.body.code]).toEqual([409, "idempotency_key_reused"]);
  expect((await accept(token, { key: "order-67" })).body.code).toBe("invitation_gone");
});

test("a key is valid for the holder of one invitation alone", async () => {
  const { invite, accept } = await scene();
  const tokens = [await invite("one@example.com"), await invite("two@example.com")];
  for (const token of tokens) {
    const answer = await accept(token);
    expect([answer.status, answer.headers.get("idempotency-replayed")]).toEqual([200, null]);
  }
});

test("a refusal is not stored: strangers cannot fill the store, and a corrected request succeeds", async () => {
  const { app, accept, invite } = await scene();
  for (const token of ["unknown", "unknown"]) {
    const answer = await accept(token);
    expect([answer.status, answer.headers.get("idempotency-replayed")]).toEqual([400, null]);
  }
  const token = await invite("new@example.com");
  expect((await accept(token, { password: "short" })).status).toBe(400);
  expect((await accept(token)).status).toBe(200);
  expect(app.world.log.lines.filter(({ level }) => level === "error")).toEqual([]);
});
