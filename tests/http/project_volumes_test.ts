import { describe, expect, test } from "bun:test";
import { member } from "../support/apps/app.ts";
import { type DeployingApp, deployingApp } from "../support/apps/deploying_app.ts";

const DB = { name: "db", image: "db:1", volumes: ["data:/data"] };

/** A project with containers, whose service has a volume. */
async function scene() {
  const app = await deployingApp();
  app.world.imageRegistry.known.set("db:1", { image: `sha256:${"1".repeat(64)}`, port: null });
  const projectId = await app.project({ runtime: "docker" });
  await app.deployedServices(projectId, [DB]);
  return { app, projectId };
}

const remove = ({ call, owner }: DeployingApp, id: string, query = "", token = owner) =>
  call("DELETE", `/api/projects/${id}${query}`, { token });

describe("GET /api/projects/:id/volumes", () => {
  test("lists the volumes, with sizes", async () => {
    const { app, projectId } = await scene();
    await using _ = app;
    const { volumes } = app.world;
    volumes.sizes.set(volumes.engineName({ scope: projectId, name: "data" }), 2_048);
    const answer = await app.call("GET", `/api/projects/${projectId}/volumes`, { token: app.owner });
    expect([answer.status, answer.body]).toEqual([
      200,
      { data: [{ name: "data", environment: "production", deploymentId: null, sizeBytes: 2_048 }] },
    ]);
  });
});

describe("DELETE /api/projects/:id", () => {
  test.each(["", "?volumes=false"])("with %p keeps the volumes", async (query) => {
    const { app, projectId } = await scene();
    await using _ = app;
    expect((await remove(app, projectId, query)).body).toEqual({ success: true });
    expect(await app.world.volumes.list(projectId)).toHaveLength(1);
  });

  test("with volumes=true removes them too", async () => {
    const { app, projectId } = await scene();
    await using _ = app;
    expect((await remove(app, projectId, "?volumes=true")).body).toEqual({ success: true });
    expect(await app.world.volumes.list(projectId)).toEqual([]);
  });

  test("accepts no other value as true", async () => {
    const { app, projectId } = await scene();
    await using _ = app;
    for (const query of ["?volumes", "?volumes=1", "?volumes=yes"]) {
      const answer = await remove(app, projectId, query);
      expect([query, answer.status]).toEqual([query, 400]);
    }
    expect(await app.world.volumes.list(projectId)).toHaveLength(1);
  });

  test("with volumes=true requires an admin, as without", async () => {
    const { app, projectId } = await scene();
    await using _ = app;
    const developer = await member(app, "developer");
    expect((await remove(app, projectId, "?volumes=true", developer.token)).status).toBe(403);
    expect(await app.world.volumes.list(projectId)).toHaveLength(1);
  });
});
