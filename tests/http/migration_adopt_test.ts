import { describe, expect, test } from "bun:test";
import { Failure } from "../../domain/failure.ts";
import type { Adoptions } from "../../ports/migration/adoptions.ts";
import { Secret } from "../../domain/secret.ts";
import { found, foundIn, inventoryOf } from "../support/inputs/found.ts";
import { member } from "../support/apps/app.ts";
import { CANARY, INVENTORY, machine, migrationScene } from "../support/apps/migration_scene.ts";

const [WEB, DB] = INVENTORY.containers;
const DEFINITIONS = [
  { name: "web", image: WEB!.imageId, ports: ["8080:80"], dependsOn: ["db"], restart: "no" },
  {
    name: "db",
    image: `postgres@sha256:${"d".repeat(64)}`,
    volumes: ["shop_data:/var/lib/postgresql/data"],
    restart: "no",
  },
];

/** The adoptions of a world, except that nothing can be created. */
function without(adoptions: Adoptions, create: Adoptions["create"]): Adoptions {
  return {
    create,
    list: (id) => adoptions.list(id),
    onServer: (id) => adoptions.onServer(id),
    unsettled: () => adoptions.unsettled(),
  };
}

describe("POST /api/migration/adopt", () => {
  test("creates a project of the server from what runs there", async () => {
    const { adopt, app, id } = await migrationScene();
    const answer = await adopt();
    expect(answer.status).toBe(200);
    const { project, project_id, ...rest } = answer.body;
    expect(rest).toEqual({
      success: true,
      services: DEFINITIONS,
      adopted: [
        { service: "web", key: "shop/web", containerId: WEB!.id, containerName: "shop-web-1" },
        { service: "db", key: "shop/db", containerId: DB!.id, containerName: "shop-db-1" },
      ],
      warnings: expect.any(Array),
    });
    expect(project).toMatchObject({
      id: project_id,
      name: "Shop",
      slug: "shop",
      location: "server",
      serverId: id,
      projectType: "services",
      services: DEFINITIONS,
      hostPaths: null,
      activeDeploymentId: null,
    });
    const stored = await app.call("GET", `/api/projects/${project_id}`, { token: app.owner });
    expect(stored.body.data).toEqual(project);
    expect(answer.text + stored.text).not.toContain(CANARY);
  });

  test("stores the environment as variables of each service, secrets marked, and the recipes", async () => {
    const { adopt, app } = await migrationScene();
    const { project_id: id } = (await adopt()).body;
    const listed = await app.call("GET", `/api/projects/${id}/env`, { token: app.owner });
    expect(listed.body.data).toMatchObject([
      { key: "db/POSTGRES_PASSWORD", secret: true, value: null },
      { key: "web/API_TOKEN", secret: true, value: null },
      { key: "web/GREETING", secret: false, value: "hello" },
    ]);
    expect((await app.world.variables.reveal(id)).get("web/API_TOKEN")!.reveal()).toBe(CANARY);
    const adopted = await app.world.adoptions.list(id);
    expect(adopted.map(({ recipe, service }) => [service, recipe.reveal()])).toEqual([
      ["db", DB!.recipe.reveal()],
      ["web", WEB!.recipe.reveal()],
    ]);
    const audit = await app.call("GET", "/api/audit", { token: app.owner });
    const log = app.world.log.lines.map(({ text }) => text).join();
    expect(listed.text + audit.text + log).not.toContain(CANARY);
  });

  test("deploys nothing, and takes one connection", async () => {
    const { adopt, app, connections } = await migrationScene();
    await adopt();
    expect((await app.call("GET", "/api/deployments", { token: app.owner })).body.data).toEqual([]);
    expect(connections()).toBe(1);
  });

  test("reads the server anew instead of trusting an earlier scan", async () => {
    const { adopt, app, scan } = await migrationScene();
    await scan();
    app.world.remoteHosts.add(
      machine({ engine: inventoryOf([foundIn("shop", "web", { image: "nginx:2" }), foundIn("shop", "db")]) }),
    );
    expect((await adopt()).body.services[0].image).toStartWith("nginx@");
    app.world.remoteHosts.add(machine({ engine: inventoryOf([]) }));
    expect((await adopt({ projectName: "Second" })).status).toBe(400);
  });

  test("adopts a container on its own, with its path, and keeps its secrets out of sight", async () => {
    const { adopt } = await migrationScene();
    const answer = await adopt({ serviceNames: ["cache"] });
    expect(answer.body.services).toEqual([
      { name: "cache", image: `redis@sha256:${"d".repeat(64)}`, restart: "no", volumes: ["/srv/cache:/data:ro"] },
    ]);
    expect(answer.body.warnings.length).toBeGreaterThan(1);
    expect(answer.text).not.toContain(CANARY);
  });

  test("repeats its response to a repeated key, without another connection", async () => {
    const { adopt, connections } = await migrationScene();
    const by = { headers: { "idempotency-key": "once" } };
    const [first, second] = [await adopt({}, by), await adopt({}, by)];
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(connections()).toBe(1);
  });
});

describe("POST /api/migration/adopt stores nothing", () => {
  test.each([
    [{ serviceNames: ["shop/web", "nothing"] }, "serviceNames.1", "there is no such service"],
    [{ serviceNames: ["shop/worker"] }, "serviceNames.0", "there is no container"],
    [{ serviceNames: ["slipway-prj-1"] }, "serviceNames.0", "Slipway started this container"],
    [{ projectName: "   " }, "projectName", ""],
    [{ projectName: "x".repeat(81) }, "projectName", ""],
  ])("for %j, with 400 naming %s", async (body, path, why) => {
    const { adopt, projects } = await migrationScene();
    const answer = await adopt(body);
    expect(answer.status).toBe(400);
    expect(answer.body.details[0].path).toBe(path);
    expect(answer.body.details[0].message).toContain(why);
    expect(await projects()).toEqual([]);
  });

  test("for an ambiguous name, with 400 listing the keys", async () => {
    const engine = inventoryOf([foundIn("shop", "web"), foundIn("blog", "web")]);
    const { adopt, projects } = await migrationScene(machine({ engine }));
    const answer = await adopt({ serviceNames: ["web"] });
    expect([answer.status, answer.body.code]).toEqual([400, "service_ambiguous"]);
    expect(answer.body.error).toContain("blog/web, shop/web");
    expect(await projects()).toEqual([]);
  });

  test("for a taken name, with 409, before any connection", async () => {
    const { adopt, app, connections, projects } = await migrationScene();
    await app.call("POST", "/api/projects", { token: app.owner, body: { name: "SHOP" } });
    const answer = await adopt();
    expect(answer.status).toBe(409);
    expect(connections()).toBe(0);
    expect(await projects()).toHaveLength(1);
  });

  test("for a name that is taken meanwhile, with 409", async () => {
    const { adopt, projects } = await migrationScene(machine(), ({ adoptions }) => ({
      adoptions: without(adoptions, async () => "slug_taken"),
    }));
    expect((await adopt()).status).toBe(409);
    expect(await projects()).toEqual([]);
  });

  test("of two at the same time, except for one", async () => {
    const { adopt, projects } = await migrationScene();
    const answers = await Promise.all([adopt(), adopt(), adopt()]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    expect(await projects()).toHaveLength(1);
  });

  test("for more variables than a project may have, with 400", async () => {
    const environment = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`KEY_${index}`, "x"]));
    const { adopt, app, projects } = await migrationScene(machine({ engine: inventoryOf([found({ environment })]) }));
    const answer = await adopt({ serviceNames: ["web"] });
    expect([answer.status, answer.body.code]).toEqual([400, "too_many_variables"]);
    expect(await projects()).toEqual([]);
    expect(app.world.remoteHosts.openSessions).toBe(0);
  });

  test("for a failure of the database, with 503 and without a word of it", async () => {
    const away = new Failure("unavailable", "database_away", "Cannot reach the database", {
      cause: new Secret(CANARY),
    });
    const { adopt, projects } = await migrationScene(machine(), ({ adoptions }) => ({
      adoptions: without(adoptions, () => Promise.reject(away)),
    }));
    const answer = await adopt();
    expect(answer.status).toBe(503);
    expect(answer.text).not.toContain(CANARY);
    expect(await projects()).toEqual([]);
  });
});

describe("containers of an adopted project", () => {
  test("are not offered again, and cannot be adopted twice", async () => {
    const { adopt, projects, scan } = await migrationScene();
    const first = await adopt();
    expect(first.status).toBe(200);
    const { stack } = (await scan()).body;
    const adopted = first.body.adopted.map(({ containerId }: { containerId: string }) => containerId);
    const managed = stack.managed.filter(({ projectId }: { projectId: string }) => projectId === first.body.project_id);
    expect(managed.map(({ containerId }: { containerId: string }) => containerId).toSorted()).toEqual(
      adopted.toSorted(),
    );
    const again = await adopt({ projectName: "Again" });
    expect([again.status, again.body.code]).toEqual([409, "already_adopted"]);
    expect(again.body.error).toContain(first.body.project.name);
    expect(await projects()).toHaveLength(1);
  });

  test("can be adopted anew once the project is deleted", async () => {
    const { adopt, app } = await migrationScene();
    const { project_id: id } = (await adopt()).body;
    expect((await app.call("DELETE", `/api/projects/${id}`, { token: app.owner })).status).toBe(200);
    expect((await adopt()).status).toBe(200);
  });

  test("keep their server from being deleted", async () => {
    const { adopt, app } = await migrationScene();
    const { project } = (await adopt()).body;
    const removal = () => app.call("DELETE", `/api/servers/${project.serverId}`, { token: app.owner });
    const refused = await removal();
    expect([refused.status, refused.body.code]).toEqual([409, "server_in_use"]);
    expect(refused.body.error).toContain(`"${project.name}"`);
    await app.call("DELETE", `/api/projects/${project.id}`, { token: app.owner });
    expect((await removal()).status).toBe(200);
  });

  test("are only changed by those who may write to the server", async () => {
    const { adopt, app } = await migrationScene();
    const { project } = (await adopt()).body;
    const { token } = await member(app, "developer");
    const patch = (body: object) => app.call("PATCH", `/api/projects/${project.id}`, { token, body });
    for (const body of [{ services: project.services }, { hostPaths: ["/"] }]) {
      expect((await patch(body)).status).toBe(403);
    }
    expect((await patch({ name: "Renamed" })).status).toBe(200);
  });
});
