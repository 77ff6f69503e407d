import { expect, test } from "bun:test";
import { SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { Caddy } from "../support/peers/caddy.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";
import { Visitor } from "../support/servers/visitor.ts";

const APP = { "server.js": 'Bun.serve({ port: process.env.PORT, fetch: () => new Response("v1") });' };

test("with EDGE=caddy, a server starts without Caddy, deploys once it is there, and apps are served without the server", async () => {
  await using caddy = await Caddy.prepare();
  const settings = { EDGE: "caddy", CADDY_ADMIN: caddy.adminAddress, LOG_FORMAT: "json" };
  await using slipway = await SlipwayProcess.start(settings);
  const warning = `Cannot reach Caddy at ${caddy.adminAddress}: ENOENT. Start Caddy (on Debian: apt-get install caddy), or check CADDY_ADMIN`;
  await eventually(
    async () => slipway.program.stderr,
    (text) => text.includes(warning),
  );
  await caddy.start();
  await eventually(
    async () => slipway.program.stderr,
    (text) => text.includes("Caddy serves the apps now"),
  );
  await using source = await SourceFolder.of(APP);
  const app = await TestProject.create(slipway, { name: "app", startCommand: "bun server.js", localPath: source.path });
  await app.deployed();
  expect(await app.page()).toBe("v1");

  const visitor = new Visitor(slipway, app.hostname);
  await source.write({ "server.js": APP["server.js"].replace("v1", "v2") });
  await app.deployed();
  expect(await app.page()).toBe("v2");
  await slipway.kill();
  expect(await app.page()).toBe("v2");
  await slipway.start();
  await eventually(
    async () => visitor.visits,
    (visits) => visits > 10,
  );
  expect(await app.page()).toBe("v2");
  await visitor.stop();
  expect(visitor.failures).toEqual([]);
});
