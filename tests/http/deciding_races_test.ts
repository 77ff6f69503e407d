import { describe, expect, test } from "bun:test";
import { deployingApp } from "../support/apps/deploying_app.ts";

const WEB = { name: "web", startCommand: "serve", ports: [3000] };
const WORKER = { name: "worker", startCommand: "work" };

/** A deployment that awaits a decision, and the one before it. */
async function scene() {
  const app = await deployingApp();
  app.world.runtime.scripts.set("work badly", { does: "ends", code: 3 });
  const projectId = await app.project();
  const first = await app.deployedServices(projectId, [WEB, WORKER]);
  const next = [
    { ...WEB, environment: { MODE: "fast" } },
    { ...WORKER, startCommand: "work badly" },
  ];
  const held = await app.deployedServices(projectId, next);
  const removeProject = () => app.call("DELETE", `/api/projects/${projectId}`, { token: app.owner });
  return { app, projectId, first, held, removeProject };
}

test.each(["keep", "reject"])("the time until %s does not count towards the duration of a deployment", async (word) => {
  const { app, held } = await scene();
  await using _ = app;
  const { durationMs, finishedAt } = (await app.get(`/${held}`)).body.data;
  app.world.clock.advance(3_600_000);
  const decided = (await app.post(`/${held}/${word}`)).body.deployment;
  expect(decided.durationMs).toBe(durationMs);
  expect(Date.parse(decided.finishedAt) - Date.parse(finishedAt)).toBeGreaterThanOrEqual(3_600_000);
});

describe("concurrent decisions", () => {
  test.each([
    ["keep", "keep"],
    ["reject", "reject"],
    ["keep", "reject"],
  ])("%s and %s at once: one of them succeeds, and the other is refused", async (one, other) => {
    const { app, held } = await scene();
    await using _ = app;
    const answers = await Promise.all([app.post(`/${held}/${one}`), app.post(`/${held}/${other}`)]);
    const ended = answers.find(({ status }) => status === 200)!.body.deployment;
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    expect(answers.find(({ status }) => status === 400)!.body.code).toBe("deployment_not_movable");
    const { status, decision } = (await app.get(`/${held}`)).body.data;
    expect([status, decision]).toEqual([ended.status, ended.decision]);
    for (const word of [one, other]) expect((await app.post(`/${held}/${word}`)).status).toBe(400);
  });

  test("with a queued deployment: it continues after the decision, from its result", async () => {
    const { app, held, first, projectId } = await scene();
    await using _ = app;
    const { body } = await app.post("/build/access", { projectId, services: [WEB, WORKER] });
    expect((await app.get(`/${body.deployment_id}`)).body.data).toMatchObject({ status: "queued", waitingFor: held });
    const rejected = await app.post(`/${held}/reject`);
    expect([rejected.status, rejected.body.restoredDeploymentId]).toEqual([200, first]);
    const { services } = await app.settled(body.deployment_id);
    expect(services.map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
  });

  test("with the same key: the first response is returned again", async () => {
    const { app, held } = await scene();
    await using _ = app;
    const keep = () =>
      app.call("POST", `/api/deployments/${held}/keep`, {
        token: app.owner,
        body: {},
        headers: { "idempotency-key": "kept-once" },
      });
    const [one, other] = await Promise.all([keep(), keep()]);
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(other.body).toEqual(one.body);
  });

  test.each(["keep", "reject"])(
    "%s and the project's deletion: both complete, and the deployment is gone",
    async (word) => {
      const { app, held, removeProject } = await scene();
      await using _ = app;
      const [decided, removed] = await Promise.all([app.post(`/${held}/${word}`), removeProject()]);
      expect(removed.status).toBe(200);
      expect([200, 404]).toContain(decided.status);
      expect((await app.post(`/${held}/${word}`)).status).toBe(404);
      expect((await app.get(`/${held}`)).status).toBe(404);
    },
  );

  test("come first: while one is pending, pinning works, but not rollback, cancel, build or deletion", async () => {
    const { app, held } = await scene();
    await using _ = app;
    for (const word of ["rollback", "cancel", "build"]) expect((await app.post(`/${held}/${word}`)).status).toBe(400);
    const removed = await app.call("DELETE", `/api/deployments/${held}`, { token: app.owner });
    expect([removed.status, removed.body.code]).toEqual([400, "decision_pending"]);
    expect((await app.post(`/${held}/pin`)).body.data).toMatchObject({ pinned: true, status: "partial_failure" });
    expect((await app.post(`/${held}/keep`)).body.deployment).toMatchObject({ pinned: true, status: "ready" });
  });
});
