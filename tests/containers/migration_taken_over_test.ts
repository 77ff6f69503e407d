import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { AdoptedShop } from "../support/apps/adopted_shop.ts";
import { handMadeShop } from "../support/apps/hand_made_shop.ts";
import { type Inspected, type KnownServer, type Migrating, migrating } from "../support/apps/taken_over.ts";
import { eventually } from "../support/eventually.ts";

let world: Migrating;
let server: KnownServer;
beforeAll(async () => {
  world = await migrating(1);
  [server] = world.servers as [KnownServer];
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

/** Restarts the engine of the server, as a reboot does. */
async function restartEngine(): Promise<void> {
  await server.machine.stopEngine();
  await server.machine.startEngine();
}

describe("a container that a project has taken over", () => {
  test("is shown, measured, read and restarted like any other, and stays the same container", async () => {
    const shop = await AdoptedShop.of(server);
    const { project } = shop;
    const id = await project.deployed();
    const before = await shop.originals();
    const info = (await project.call("GET", `/api/deployments/${id}/info`)).body.data;
    const ids = Object.fromEntries(info.services.map(({ name, containerId }: Inspected) => [name, containerId]));
    const [web, api, db] = before.map((container) => container.id);
    expect(ids).toEqual({ web, api, db });
    const usage = (await project.call("GET", `/api/deployments/${id}/usage`)).body.data;
    expect(usage.services.find(({ name }: Inspected) => name === "web")).toMatchObject({
      memoryLimitBytes: 67_108_864,
    });
    expect(await project.log(id, "runtime")).toContain("painted blue");
    const restarted = await project.call("POST", `/api/deployments/${id}/restart`);
    expect(restarted.status).toBe(200);
    const after = await shop.originals();
    expect(after.map((container) => container.id)).toEqual([web!, api!, db!]);
    for (const [index, { startedAt, status }] of after.entries()) {
      expect(status).toBe("running");
      expect(startedAt).not.toBe(before[index]!.startedAt);
    }
    expect(await shop.page(shop.shop.port)).toBe("blue");
  });

  test("that somebody stops or removes comes back", async () => {
    const shop = await AdoptedShop.of(server, ["web"]);
    await shop.project.deployed();
    const { web } = shop.shop.containers;
    await server.docker("rm", "--force", web);
    await world.slipway.kill();
    await world.slipway.start();
    const [again] = await eventually(
      () => server.own(shop.project, "web"),
      (own) => own.length === 1 && own[0].State.Status === "running",
    );
    expect(again.NetworkSettings.Networks).toHaveProperty(`${shop.shop.name}_front`);
    expect(await shop.page(shop.shop.port)).toBe("blue");
  });

  test("whose replacement is rolled back gets another replacement that is as it was", async () => {
    const shop = await AdoptedShop.of(server, ["web"]);
    const first = await shop.project.deployed();
    await shop.setVariable("web/COLOR", "green");
    await shop.project.deployed();
    expect(await shop.page(shop.shop.port)).toBe("green");
    await shop.project.deployed(await shop.project.again(first, "rollback"));
    expect(await shop.page(shop.shop.port)).toBe("blue");
    await eventually(
      () => shop.running("web"),
      ({ adopted, own }) => adopted + own === 1,
    );
    expect(await shop.running("web")).toEqual({ adopted: 0, own: 1 });
  });

  test("whose service was removed from the project is stopped, and its data stays", async () => {
    const shop = await AdoptedShop.of(server);
    await shop.project.deployed();
    const [web, api, db] = await shop.originals();
    await shop.redefine("db", "removed");
    const id = await shop.project.deployed();
    expect(await shop.statuses(id)).toEqual({ web: "unchanged", api: "unchanged" });
    expect(await shop.originals()).toEqual([web!, api!, { ...db!, status: "exited", policy: "no" }]);
    const data = await server.docker(
      "run",
      "--rm",
      "--volume",
      `${shop.shop.name}_db:/d`,
      "tiny:latest",
      "cat",
      "/d/table",
    );
    expect(data).toBe("rows");
  });

  test("whose service was removed before the first deployment is left alone", async () => {
    const shop = await AdoptedShop.of(server);
    const before = await shop.originals();
    await shop.redefine("db", "removed");
    expect(await shop.statuses(await shop.project.deployed())).toEqual({ web: "unchanged", api: "unchanged" });
    expect(await shop.originals()).toEqual(before);
  });

  test("was not made by Slipway, so deleting the project leaves it and all volumes", async () => {
    const shop = await AdoptedShop.of(server);
    await shop.setVariable("web/COLOR", "green");
    await shop.project.deployed();
    const before = await shop.originals();
    const volumes = await server.docker("volume", "ls", "--quiet");
    const deleted = await shop.project.call("DELETE", `/api/projects/${shop.project.id}?volumes=true`);
    expect(deleted.status).toBeLessThan(300);
    expect(await server.own(shop.project)).toEqual([]);
    expect(await shop.originals()).toEqual(before);
    expect(await server.docker("volume", "ls", "--quiet")).toBe(volumes);
    expect(await shop.page(shop.shop.apiPort)).toBe("files");
  });
});

describe("an adopted job that ran to its end", () => {
  test("never runs again by itself, and once more after a change, without the restarts of its recipe", async () => {
    const made = await handMadeShop(server);
    const job = `${made.name}-migrate`;
    const runs = ["--volume", `${made.name}_runs:/runs`];
    const options = ["--name", job, "--restart", "on-failure", "--env", "STEP=1", ...runs];
    await server.docker("run", ...options, "tiny:latest", "sh", "-c", "echo $STEP >>/runs/log; test $STEP != 3");
    const log = () => server.docker("run", "--rm", ...runs, "tiny:latest", "cat", "/runs/log");
    const { project, warnings } = await server.adopt(made.name, [`${made.name}/web`, job]);
    expect(warnings.filter((warning) => warning.includes("ran to its end"))).toHaveLength(1);
    const shop = new AdoptedShop(server, made, project);
    const before = await server.untouched(job);
    const first = await project.deployed();
    expect(await shop.statuses(first)).toEqual({ web: "unchanged", [job]: "unchanged" });
    const { body } = await project.call("GET", `/api/deployments/${first}/info`);
    expect(body.data.services).toMatchObject([
      { name: "web", health: "healthy" },
      { name: job, status: "exited", health: "done" },
    ]);
    const restarted = await project.call("POST", `/api/deployments/${first}/restart`);
    expect(restarted.body.message).toBe("Restarted 1 service");
    expect([await server.untouched(job), await log()]).toEqual([before, "1"]);
    await shop.setVariable(`${job}/STEP`, "2");
    expect(await shop.statuses(await project.deployed())).toEqual({ web: "unchanged", [job]: "done" });
    await shop.setVariable(`${job}/STEP`, "3");
    const failed = await project.deploy();
    expect((await project.settled(failed)).status).toBe("partial_failure");
    expect(await log()).toBe("1\n2\n3");
  });
});

describe("an adopted project", () => {
  test("has an address of its own for a service that an endpoint names, beside the port of the server", async () => {
    const shop = await AdoptedShop.of(server);
    await shop.configure({ publicEndpoints: [{ service: "web", port: 8080 }] });
    const id = await shop.project.deployed();
    expect(await shop.statuses(id)).toEqual({ web: "healthy", api: "unchanged", db: "unchanged" });
    expect(await shop.project.page()).toBe("blue\n");
    expect(await shop.page(shop.shop.port)).toBe("blue");
    await shop.setVariable("web/COLOR", "green");
    await shop.project.deployed();
    expect(await shop.project.page()).toBe("green\n");
    expect(await shop.running("web")).toEqual({ adopted: 0, own: 1 });
  });

  test("can neither be previewed nor deployed with other services", async () => {
    const shop = await AdoptedShop.of(server, ["web"]);
    const before = await shop.originals();
    const requests = [{ environment: "preview" }, { services: [{ name: "web", image: "tiny:latest" }] }];
    for (const request of requests) {
      const body = { projectId: shop.project.id, ...request };
      const refused = await shop.project.call("POST", "/api/deployments/build/access", { body });
      expect([refused.status, refused.body.code]).toEqual([400, "project_adopted"]);
    }
    expect(await shop.originals()).toEqual(before);
  });
});

// Last, because everything on the server stops meanwhile.
describe("a restart of the engine", () => {
  test("leaves a replaced container stopped, and all others run again", async () => {
    const shop = await AdoptedShop.of(server);
    await shop.setVariable("web/COLOR", "green");
    await shop.project.deployed();
    await restartEngine();
    await eventually(
      () => shop.page(shop.shop.port),
      (page) => page === "green",
    );
    expect(await shop.running("web")).toEqual({ adopted: 0, own: 1 });
    await eventually(
      () => shop.running("api"),
      ({ adopted, own }) => adopted === 1 && own === 0,
    );
  });
});
