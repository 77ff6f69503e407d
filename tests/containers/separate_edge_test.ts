import { test } from "bun:test";
import { containerApp } from "../support/peers/container_app.ts";
import { type Files, SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { dockerServer } from "../support/servers/docker_server.ts";
import { expectServedThroughRestarts } from "../support/servers/served_through_restarts.ts";

test("with EDGE=separate, an app in a container is served through ten restarts of the server", async () => {
  await using server = await dockerServer({ EDGE: "separate" });
  await using source = await SourceFolder.of(containerApp("v1") as Files);
  const project = await TestProject.create(server.slipway, { name: "app", localPath: source.path });
  await project.deployed();
  await expectServedThroughRestarts([project]);
});
