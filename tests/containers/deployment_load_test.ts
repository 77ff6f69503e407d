import { expect, setDefaultTimeout, test } from "bun:test";
import { containerApp } from "../support/container_app.ts";
import { type Files, SourceFolder, TestProject } from "../support/deploying.ts";
import { dockerServer } from "../support/docker_server.ts";
import { SlipwayProcess } from "../support/slipway_process.ts";
import { steadyLoad } from "../support/steady_load.ts";

setDefaultTimeout(400_000);

const REDEPLOYS = 20;
const ROLLBACKS = [3, 17, 5, 12, 8];

const APP = `
  const { readFileSync } = require("node:fs");
  const version = readFileSync("version", "utf8");
  const server = Bun.serve({ port: process.env.PORT, fetch: () => new Response(version) });
  process.once("SIGTERM", () => server.stop().then(() => process.exit(0)));
`;

/** Deploys versions one after the other, goes back to some, and asks all the time; files give what is deployed of a version. */
async function redeployedUnderLoad(
  slipway: SlipwayProcess,
  files: (version: string) => Files,
  settings: Readonly<Record<string, unknown>>,
): Promise<void> {
  await using source = await SourceFolder.of(files("v0"));
  const project = await TestProject.create(slipway, { name: "loaded", localPath: source.path, ...settings });
  const made = [await project.deployed()];
  /** A rollback shows an old version again: each stretch between two of them is a load of its own. */
  const load = (order: readonly string[]) =>
    steadyLoad({
      port: slipway.edgePort,
      hostname: project.hostname,
      keepAlive: 6,
      fresh: 4,
      isOlder: (one, other) => order.indexOf(one) < order.indexOf(other),
    });
  const forward = Array.from({ length: REDEPLOYS + 1 }, (_, round) => `v${round}`);
  const redeploying = load(forward);
  for (const version of forward.slice(1)) {
    await source.write(files(version));
    made.push(await project.deployed(await project.again(made[0]!, "redeploy", {})));
  }
  const first = await redeploying.stop();
  expect(first.versions).toEqual(forward);
  const back = [`v${REDEPLOYS}`, ...ROLLBACKS.map((round) => `v${round}`)];
  const rollingBack = load(back);
  for (const round of ROLLBACKS) await project.deployed(await project.again(made[round]!, "rollback"));
  const second = await rollingBack.stop();
  expect(second.versions).toEqual(back);
  for (const { failures, wentBack, answers } of [first, second]) {
    expect(failures).toEqual([]);
    expect(wentBack).toEqual([]);
    expect(answers).toBeGreaterThan(1_000);
  }
}

const processApp = (version: string) => ({ "server.js": APP, version });

const WHAT = "20 redeployments and 5 rollbacks under constant requests: none fails, none goes back to an old version";

test.concurrent(`${WHAT}, as processes`, async () => {
  await using slipway = await SlipwayProcess.start({ SLIPWAY_RUNTIME: "process", ROLLBACK_WINDOW: "30" });
  await redeployedUnderLoad(slipway, processApp, { startCommand: "bun server.js" });
});

test.concurrent(`${WHAT}, in containers`, async () => {
  await using server = await dockerServer({ ROLLBACK_WINDOW: "30" });
  await redeployedUnderLoad(server.slipway, (version) => containerApp(version) as Files, {});
});
