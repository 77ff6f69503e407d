import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import { memoryApp } from "../support/apps/app.ts";
import { furnish } from "../support/apps/furnished.ts";

/** An application with fake use cases that decide at once. */
async function scene(restoredDeploymentId: string | null) {
  const app = await memoryApp();
  const { released: id } = await furnish(app);
  const decisions: string[] = [];
  const decide = (decision: "kept" | "rejected") => async (by: Principal, named: string) => {
    decisions.push(`${decision} ${named} by ${by.role}`);
    const status = decision === "kept" ? "ready" : "rejected";
    return { ...(await app.world.deployments.get(named))!, status, decision } as Deployment;
  };
  Object.assign(app.useCases, {
    keepDeployment: decide("kept"),
    rejectDeployment: async (by: Principal, named: string) => ({
      deployment: await decide("rejected")(by, named),
      restoredDeploymentId,
    }),
  });
  const post = (path: string, body?: object) =>
    app.call("POST", `/api/deployments/${id}/${path}`, { token: app.owner, ...(body && { body }) });
  return { id, decisions, post };
}

test("keep answers with the deployment after the decision", async () => {
  const { id, decisions, post } = await scene(null);
  const answer = await post("keep");
  expect(answer.body).toMatchObject({ success: true, deployment: { id, status: "ready", decision: "kept" } });
  expect(Object.keys(answer.body).toSorted()).toEqual(["deployment", "success"]);
  expect(decisions).toEqual([`kept ${id} by owner`]);
});

test.each([["dep_01m7edka8326kz9mv55sbbg868"], [null]])("reject answers that %p serves again", async (restored) => {
  const { id, decisions, post } = await scene(restored);
  const deployment = { id, status: "rejected", decision: "rejected" };
  expect((await post("reject")).body).toMatchObject({ success: true, deployment, restoredDeploymentId: restored });
  expect(decisions).toEqual([`rejected ${id} by owner`]);
});

test.each(["keep", "reject"])("%s accepts no fields", async (word) => {
  const { decisions, post } = await scene(null);
  expect((await post(word, {})).status).toBe(200);
  expect((await post(word, { services: ["web"] })).status).toBe(400);
  expect(decisions).toHaveLength(1);
});

describe.each(["keep", "reject", "cancel"])("%s", (word) => {
  /** Sends the request and disconnects while it waits; returns the abort signal that the use case got. */
  async function left(headers: Readonly<Record<string, string>>) {
    const app = await memoryApp();
    const { released: id } = await furnish(app);
    const begun = Promise.withResolvers<AbortSignal | undefined>();
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const waiting = async (_by: Principal, named: string, signal?: AbortSignal) => {
      begun.resolve(signal);
      signal?.addEventListener("abort", () => end());
      await over;
      signal?.throwIfAborted();
      const deployment = (await app.world.deployments.get(named))!;
      return word === "reject" ? { deployment, restoredDeploymentId: null } : deployment;
    };
    Object.assign(app.useCases, { keepDeployment: waiting, rejectDeployment: waiting, cancelDeployment: waiting });
    const leaving = new AbortController();
    const request = () =>
      new Request(`http://slipway.test/api/deployments/${id}/${word}`, {
        method: "POST",
        headers: { authorization: `Bearer ${app.owner}`, ...headers },
        signal: leaving.signal,
      });
    const answering = app.handle(request(), "127.0.0.1");
    const signal = await begun.promise;
    leaving.abort();
    return { app, id, signal, answering, end };
  }

  test("is aborted when its client disconnects", async () => {
    const { signal, answering } = await left({});
    expect((await answering).status).toBeGreaterThanOrEqual(400);
    expect(signal?.aborted).toBe(true);
  });

  test("continues for a request with an idempotency key, whose response can be fetched again", async () => {
    const key = { "idempotency-key": "decided-once" };
    const { app, id, answering, end } = await left(key);
    end();
    await answering;
    const again = await app.call("POST", `/api/deployments/${id}/${word}`, { token: app.owner, headers: key });
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  });
});
