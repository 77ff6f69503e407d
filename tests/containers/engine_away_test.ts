import { describe, expect, test } from "bun:test";
import { containerApp } from "../support/peers/container_app.ts";
import { type Files, SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { dockerServer } from "../support/servers/docker_server.ts";
import { eventually } from "../support/eventually.ts";
import { OwnEngine } from "../support/peers/own_engine.ts";

const app = (version: string, slow = false) => containerApp(version, { slow }) as Files;

describe("when the engine is stopped and started", () => {
  test("a running deployment fails with a reason, the live release serves again, and the next deployment works", async () => {
    await using engine = await OwnEngine.start(["debian:bookworm-slim"]);
    await using server = await dockerServer({ DOCKER_HOST: engine.host });
    const { slipway } = server;
    await using source = await SourceFolder.of(app("v1"));
    const project = await TestProject.create(slipway, { name: "away", localPath: source.path });
    const first = await project.deployed();
    await using plainSource = await SourceFolder.example("bun-server");
    const plain = await TestProject.create(slipway, {
      name: "plain",
      localPath: plainSource.path,
      runtime: "process",
    });
    const plainFirst = await plain.deployed();
    const page = () => project.page().catch(() => "");
    for (const step of ["build", "health"] as const) {
      await source.write(app("v2", true));
      const struck = await project.deploy();
      await project.reached(struck, step);
      await engine.stop();
      // Apps that run as processes are not affected.
      await plain.deployed(await plain.again(plainFirst, "redeploy", {}));
      const plainBack = await plain.deployed(await plain.again(plainFirst, "rollback"));
      expect(await plain.page()).toStartWith("Hello");
      expect((await plain.call("POST", `/api/deployments/${plainBack}/restart`)).status).toBe(200);
      const failed = await project.settled(struck);
      expect(failed.status).toBe("failed");
      expect(failed.error).toMatchObject({ code: expect.any(String), step: expect.any(String) });
      expect(failed.error.message).toStartWith("Cannot ");
      const refused = await project.settled(await project.deploy());
      expect(refused).toMatchObject({ status: "failed", error: { code: "engine_away" } });
      expect((await project.call("GET", `/api/deployments/${first}/info`)).status).toBe(503);
      expect((await project.call("GET", "/api/health")).status).toBe(200);
      await engine.start();
      expect(await eventually(page, (text) => text === "v1")).toBe("v1");
    }
    await source.write(app("v3"));
    await project.deployed();
    expect(await project.page()).toBe("v3");
    const label = ["--filter", `label=slipway.project=${project.id}`, "--quiet"];
    const containers = () => server.docker("ps", "--all", ...label);
    expect(await eventually(containers, ({ length }) => length === 1)).toHaveLength(1);
  });

  test("a server that starts before its engine serves as soon as the engine is up", async () => {
    await using engine = await OwnEngine.start(["debian:bookworm-slim"]);
    await using server = await dockerServer({ DOCKER_HOST: engine.host });
    const { slipway } = server;
    await using source = await SourceFolder.of(app("v1"));
    const project = await TestProject.create(slipway, { name: "early", localPath: source.path });
    await project.deployed();
    await slipway.kill();
    await engine.stop();
    await slipway.start();
    expect((await slipway.visit(project.hostname)).status).toBeGreaterThanOrEqual(500);
    await engine.start();
    const page = () => project.page().catch(() => "");
    expect(await eventually(page, (text) => text === "v1")).toBe("v1");
    // The container is removed by hand; its image still exists.
    await server.docker("rm", "--force", ...(await server.docker("ps", "--quiet")));
    await slipway.kill();
    await slipway.start();
    expect(await eventually(page, (text) => text === "v1")).toBe("v1");
  });
});
