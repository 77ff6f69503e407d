import { expect, test } from "bun:test";
import { containerApp } from "../support/peers/container_app.ts";
import { type Files, SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { dockerServer } from "../support/servers/docker_server.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";
import { steadyLoad } from "../support/servers/steady_load.ts";

/** Two projects that are deployed concurrently and independently: 20 redeployments and 5 rollbacks in total. */
const HALVES = [
  { redeploys: 10, rollbacks: [3, 7, 5] },
  { redeploys: 10, rollbacks: [8, 2] },
];

/**
 * The minimum number of responses during the redeployments and during the rollbacks: several per switch, however fast
 * it is.
 */
const ANSWERS = [200, 50] as const;

const APP = `
  const { readFileSync } = require("node:fs");
  const version = readFileSync("version", "utf8");
  const server = Bun.serve({ port: process.env.PORT, fetch: () => new Response(version) });
  process.once("SIGTERM", () => server.stop().then(() => process.exit(0)));
`;

interface LoadedApp {
  /** The files of a version. */
  files(version: string): Files;
  readonly settings: Readonly<Record<string, unknown>>;
}

/**
 * Deploys versions one after the other under constant load, then rolls back to some. Returns the number of responses
 * during each of the two phases.
 */
async function redeployedUnderLoad(
  slipway: SlipwayProcess,
  { files, settings }: LoadedApp,
  { redeploys, rollbacks }: (typeof HALVES)[number],
): Promise<readonly [number, number]> {
  await using source = await SourceFolder.of(files("v0"));
  const name = `loaded-${rollbacks.length}`;
  const project = await TestProject.create(slipway, { name, localPath: source.path, ...settings });
  const made = [await project.deployed()];
  /** Rollbacks bring back old versions, so they need a separate load with its own order. */
  const load = (order: readonly string[]) =>
    steadyLoad({
      port: slipway.edgePort,
      hostname: project.hostname,
      keepAlive: 3,
      fresh: 2,
      isOlder: (one, other) => order.indexOf(one) < order.indexOf(other),
    });
  const forward = Array.from({ length: redeploys + 1 }, (_, round) => `v${round}`);
  const redeploying = load(forward);
  for (const version of forward.slice(1)) {
    await source.write(files(version));
    made.push(await project.deployed(await project.again(made[0]!, "redeploy", {})));
    await redeploying.saw(version);
  }
  const first = await redeploying.stop();
  expect(first.versions).toEqual(forward);
  const back = [`v${redeploys}`, ...rollbacks.map((round) => `v${round}`)];
  const rollingBack = load(back);
  for (const round of rollbacks) {
    await project.deployed(await project.again(made[round]!, "rollback"));
    await rollingBack.saw(`v${round}`);
  }
  const second = await rollingBack.stop();
  expect(second.versions).toEqual(back);
  for (const { failures, wentBack } of [first, second]) {
    expect(failures).toEqual([]);
    expect(wentBack).toEqual([]);
  }
  return [first.answers, second.answers];
}

async function bothUnderLoad(slipway: SlipwayProcess, app: LoadedApp): Promise<void> {
  const answers = await Promise.all(HALVES.map((half) => redeployedUnderLoad(slipway, app, half)));
  for (const stretch of [0, 1] as const) {
    expect(answers.reduce((sum, each) => sum + each[stretch], 0)).toBeGreaterThan(ANSWERS[stretch]);
  }
}

const processApp = (version: string) => ({ "server.js": APP, version });

const WHAT = "20 redeployments and 5 rollbacks under constant requests: none fails, none reaches an old version";

test.concurrent(`${WHAT}, as processes`, async () => {
  await using slipway = await SlipwayProcess.start({ ROLLBACK_WINDOW: "30" });
  const app = { files: processApp, settings: { startCommand: "bun server.js" } };
  await bothUnderLoad(slipway, app);
});

test.concurrent(`${WHAT}, in containers`, async () => {
  await using server = await dockerServer({ ROLLBACK_WINDOW: "30", PROBATION_SECONDS: "0.3" });
  const app = { files: (version: string) => containerApp(version) as Files, settings: {} };
  await bothUnderLoad(server.slipway, app);
});
