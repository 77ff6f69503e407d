import { expect, test } from "bun:test";
import { SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { expectServedThroughRestarts } from "../support/servers/served_through_restarts.ts";
import { commandOutcome, SlipwayProcess } from "../support/servers/slipway_process.ts";
import { testPort } from "../support/servers/test_port.ts";
import { Visitor } from "../support/servers/visitor.ts";

const APP = { "server.js": 'Bun.serve({ port: process.env.PORT, fetch: () => new Response("v1") });' };

test("with EDGE=separate, apps and sites are served through ten restarts of the server, and deployed after them", async () => {
  await using slipway = await SlipwayProcess.start({ EDGE: "separate" });
  await using appSource = await SourceFolder.of(APP);
  await using siteSource = await SourceFolder.of({ "index.html": "v1" });
  const settings = { startCommand: "bun server.js", localPath: appSource.path };
  const app = await TestProject.create(slipway, { name: "app", ...settings });
  const site = await TestProject.create(slipway, { name: "site", localPath: siteSource.path });
  await app.deployed();
  await site.deployed();
  await expectServedThroughRestarts([app, site]);

  const visitor = new Visitor(slipway, site.hostname);
  await siteSource.write({ "index.html": "v2" });
  await site.deployed();
  expect(await site.page()).toBe("v2");
  await visitor.stop();
  expect(visitor.failures).toEqual([]);

  await slipway.stop();
  expect(await app.page()).toBe("v1");
  const ended = await commandOutcome(["stop-edge"], slipway.settings);
  expect([ended.code, ended.stdout]).toEqual([
    0,
    "Stopped the edge. Apps are reachable again after the next bin/up.\n",
  ]);
  await expect(app.page()).rejects.toThrow();
  // Without the setting, the server serves apps itself, whatever the former edge and port were.
  await slipway.start();
  const refused = await commandOutcome(["stop-edge"], slipway.settings);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("a server uses it")]);
  await slipway.stop();
  using other = testPort();
  await slipway.start({ EDGE: "inside", EDGE_PORT: `${other.port}` });
  await expect(site.page()).rejects.toThrow();
  const headers = { host: site.hostname };
  expect(await (await fetch(`http://127.0.0.1:${other.port}/`, { headers })).text()).toBe("v2");
});
