import { describe, expect, test } from "bun:test";
import { member } from "../support/apps/app.ts";
import { type DeployingApp, deployingApp } from "../support/apps/deploying_app.ts";
import { BUILD } from "../support/apps/engine_scene.ts";

const preview = (app: DeployingApp, project: string) => app.deployed(project, { environment: "preview" });

describe("POST /api/deployments/:id/promote", () => {
  test("answers 202 with a deployment that goes live as production without a build", async () => {
    await using app = await deployingApp();
    const project = await app.project();
    await app.deployed(project);
    const id = await preview(app, project);
    const builds = app.world.builder.requests.length;
    const answer = await app.post(`/${id}/promote`);
    expect([answer.status, answer.body]).toEqual([
      202,
      { success: true, deployment_id: expect.stringMatching(/^dep_/), project_id: project },
    ]);
    await app.settled(answer.body.deployment_id);
    const { data } = (await app.get(`/${answer.body.deployment_id}`)).body;
    expect(data).toMatchObject({ status: "ready", active: true, environment: "production", rollbackOf: null });
    expect(data.urls).not.toEqual((await app.get(`/${id}`)).body.data.urls);
    expect(app.world.builder.requests).toHaveLength(builds);
  });

  test("refuses a deployment that is not a preview, is not ready or was cleaned up, and says what to do", async () => {
    await using app = await deployingApp();
    const project = await app.project();
    const refused = async (id: string) => {
      const { status, body } = await app.post(`/${id}/promote`);
      return [status, body.code, body.error];
    };
    expect(await refused(await app.deployed(project))).toEqual([
      400,
      "not_a_preview",
      "Cannot promote this deployment: it is not a preview. Roll back to it to bring it live again",
    ]);
    const id = await preview(app, project);
    app.world.builder.scripts.set(BUILD, { exitCode: 1 });
    expect(await refused(await preview(app, project))).toEqual([
      400,
      "preview_not_ready",
      'Cannot promote this preview: its status is "failed". Promote one that is ready',
    ]);
    await app.world.deployments.change(id, (stored) => ({
      deployment: { ...stored, artifactAvailable: false },
      events: [],
    }));
    expect(await refused(id)).toEqual([
      400,
      "artifact_gone",
      "Cannot promote this preview: its files were cleaned up. Redeploy it, then promote the new preview",
    ]);
    expect(await refused("dep_01m7edka8326kz9mv55sbbg868")).toMatchObject([
      404,
      "deployment_not_found",
      "Cannot find this deployment",
    ]);
  });

  test("requires deployment:admin", async () => {
    await using app = await deployingApp();
    const id = await preview(app, await app.project());
    const { token } = await member(app, "developer");
    expect((await app.post(`/${id}/promote`, {}, token)).body).toMatchObject({
      code: "forbidden",
      error: expect.stringContaining('"deployment:admin"'),
    });
  });
});
