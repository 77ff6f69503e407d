import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import { freeNameOf, projectOf } from "../support/database/store_builders.ts";
import { actingAs, linkedCloud, onProject } from "../support/apps/linked_cloud.ts";

/** The hosted cloud, with a linked installation that ensures projects. */
async function scene() {
  const cloud = await linkedCloud();
  const ensure = (body: object, headers: Record<string, string> = {}, token = cloud.token) =>
    cloud.call("POST", "/api/projects/ensure", { token, headers, body });
  const find = async (id: string) => (await cloud.call("GET", `/api/projects/${id}`, { token: cloud.owner })).body.data;
  return { ...cloud, ensure, find };
}

describe("POST /api/projects/ensure with a link token", () => {
  test("creates a project with exactly the given id once, and updates it after that", async () => {
    const { ensure, find } = await scene();
    const projectId = newId("prj");
    const body = { name: "Quay", slug: "quay", projectId };
    expect((await ensure(body)).body).toEqual({ success: true, project_id: projectId, created: true });
    expect((await ensure({ ...body, name: "Pier", port: 81 })).body).toMatchObject({ created: false });
    expect(await find(projectId)).toMatchObject({ name: "Pier", slug: "quay", port: 81, location: "local" });
  });

  test("gives a taken slug a suffix instead of touching the project that has it", async () => {
    const { ensure, find, owner } = await scene();
    const slug = "a".repeat(32) + "-b";
    const other = (await ensure({ name: "Quay", slug }, {}, owner)).body.project_id as string;
    const projectId = newId("prj");
    const body = { name: "Mine", slug, projectId };
    expect((await ensure(body)).body).toMatchObject({ project_id: projectId, created: true });
    expect((await ensure(body)).body).toMatchObject({ project_id: projectId, created: false });
    expect((await find(projectId)).slug).toMatch(/^a{32}-[a-z0-9]+$/);
    expect(await find(other)).toMatchObject({ name: "Quay", slug });
  });

  test("creates one project for ten concurrent requests", async () => {
    const { ensure } = await scene();
    const projectId = newId("prj");
    const answers = await Promise.all(Array.from({ length: 10 }, () => ensure({ name: "Race", projectId })));
    expect(answers.map(({ body }) => body.project_id)).toEqual(Array(10).fill(projectId));
    expect(answers.filter(({ body }) => body.created)).toHaveLength(1);
  });

  test("demands project:write of the member on that id", async () => {
    const { ensure } = await scene();
    const projectId = newId("prj");
    const body = { name: "Quay", projectId };
    for (const grants of [onProject(projectId, "read"), onProject(newId("prj"), "write")]) {
      expect((await ensure(body, actingAs("usr_1", { grants }))).status).toBe(403);
    }
    const headers = actingAs("usr_1", { grants: onProject(projectId, "write") });
    expect((await ensure({ name: "Other" }, headers)).status).toBe(403);
    expect((await ensure(body, headers)).body).toMatchObject({ project_id: projectId, created: true });
    expect((await ensure(body, headers)).body).toMatchObject({ project_id: projectId, created: false });
  });

  test("answers 404 for an id of another organization, also after its project is gone, and 400 for no id", async () => {
    const { call, ensure, owner, world } = await scene();
    const made = await call("POST", "/api/organizations", { token: owner, body: { name: "Elsewhere" } });
    const organizationId = made.body.data.id as string;
    const own = (await call("POST", "/api/projects", { token: owner, body: { name: "Here" } })).body.data.id as string;
    const project = projectOf({ organizationId });
    const foreign = project.id;
    await world.projects.create(project, freeNameOf(project));
    const missing = await call("GET", `/api/projects/${newId("prj")}`, { token: owner });
    const answer = await ensure({ name: "Mine", projectId: foreign });
    expect([answer.status, answer.text]).toEqual([404, missing.text]);
    await world.projects.remove(organizationId, foreign);
    expect((await ensure({ name: "Mine", projectId: foreign })).status).toBe(404);
    expect((await ensure({ name: "Mine", projectId: own })).body).toMatchObject({ project_id: own, created: false });
    for (const projectId of ["nonsense", newId("dep"), `${newId("prj")}/..`])
      expect((await ensure({ name: "Mine", projectId })).status).toBe(400);
  });

  test("leaves other credentials as they were: an unknown id is 404", async () => {
    const { ensure, owner } = await scene();
    expect((await ensure({ name: "Quay", projectId: newId("prj") }, {}, owner)).status).toBe(404);
  });
});
