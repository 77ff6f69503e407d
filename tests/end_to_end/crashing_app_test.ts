import { expect, test } from "bun:test";
import { expectBrokenComposeRefused } from "../support/inputs/broken_compose.ts";
import { SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { faultyListener } from "../support/faults/faulty_listener.ts";
import { expectShownBack, expectShownDown, shownService } from "../support/servers/shown_outage.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";
import { tcpGate } from "../support/faults/tcp_gate.ts";
import { Visitor } from "../support/servers/visitor.ts";

const STEADY = {
  "package.json": JSON.stringify({ scripts: { start: "bun server.js" } }),
  "server.js": 'Bun.serve({ port: process.env.PORT, fetch: () => new Response("v1") });',
};

/** Exits as soon as its database is unreachable. */
function needyApp(port: number) {
  return {
    "server.js": `
      import { connect } from "node:net";
      const needed = connect(${port}, "127.0.0.1");
      for (const event of ["error", "close"]) needed.on(event, () => (console.error("no database"), process.exit(1)));
      needed.on("connect", () => Bun.serve({ port: process.env.PORT, fetch: () => new Response("v1") }));
    `,
  };
}

test("an app stays live when a compose file cannot be read; one in a crash loop recovers by itself, and delays neither its server nor another app", async () => {
  using silent = faultyListener("silent");
  await using database = await tcpGate(silent.port);
  await using slipway = await SlipwayProcess.start();
  await using steadySource = await SourceFolder.of(STEADY);
  await using needySource = await SourceFolder.of(needyApp(database.port));
  const settings = { startCommand: "bun server.js" };
  const steady = await TestProject.create(slipway, { name: "steady", localPath: steadySource.path });
  const needy = await TestProject.create(slipway, { name: "needy", localPath: needySource.path, ...settings });
  await steady.deployed();
  const id = await needy.deployed();
  const visitor = new Visitor(slipway, steady.hostname);
  await expectBrokenComposeRefused(steady, steadySource);

  await database.shut();
  await expectShownDown(needy, id);
  const refused = await needy.call("POST", `/api/deployments/${id}/restart`);
  expect([refused.status, refused.body.code]).toEqual([400, "restart_failed"]);
  expect(refused.body.error).toContain("it ended with code 1");

  visitor.pause();
  await slipway.kill();
  await slipway.start();
  // The first app responds while the other one is still in a crash loop.
  expect(await steady.page()).toBe("v1");
  expect((await shownService(needy, id)).status).not.toBe("running");
  visitor.goOn();
  await expectShownDown(needy, id);

  await database.open();
  await expectShownBack(needy, id);
  expect((await needy.call("POST", `/api/deployments/${id}/restart`)).status).toBe(200);
  await visitor.stop();
  expect(visitor.failures).toEqual([]);
});
