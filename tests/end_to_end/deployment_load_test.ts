import { expect, setDefaultTimeout, test } from "bun:test";
import { SourceFolder, TestProject } from "../support/deploying.ts";
import { SlipwayProcess } from "../support/slipway_process.ts";
import { steadyLoad } from "../support/steady_load.ts";

setDefaultTimeout(300_000);

const REDEPLOYS = 20;
const ROLLBACKS = 5;

/** Tells which deployment it is: its variables are recorded with it, so that a rollback shows the number of what it goes back to. */
const APP = `
  const server = Bun.serve({ port: process.env.PORT, fetch: () => new Response("v" + process.env.ROUND) });
  process.once("SIGTERM", () => server.stop().then(() => process.exit(0)));
`;

test("20 redeployments and 5 rollbacks under constant requests: none fails, none goes back to an old version", async () => {
  await using slipway = await SlipwayProcess.start({ SLIPWAY_RUNTIME: "process", ROLLBACK_WINDOW: "30" });
  await using source = await SourceFolder.of({ "server.js": APP });
  const project = await TestProject.create(slipway, {
    name: "loaded",
    localPath: source.path,
    startCommand: "bun server.js",
  });
  const deployRound = async (round: number, make: () => Promise<string>) => {
    const body = { upserts: [{ key: "ROUND", value: String(round) }] };
    await project.call("PATCH", `/api/projects/${project.id}/env`, { body });
    return project.deployed(await make());
  };
  const made = [await deployRound(0, () => project.deploy())];
  const expected = ["v0"];
  /** A rollback shows an old version again: each stretch between two of them is a load of its own. */
  const stretches: Awaited<ReturnType<ReturnType<typeof load>["stop"]>>[] = [];
  const load = () => {
    const order = [...expected];
    return steadyLoad({
      port: slipway.edgePort,
      hostname: project.hostname,
      keepAlive: 6,
      fresh: 4,
      isOlder: (one, other) => order.indexOf(one) < order.indexOf(other),
    });
  };
  expected.push(...Array.from({ length: REDEPLOYS }, (_, index) => `v${index + 1}`));
  const redeploying = load();
  for (let round = 1; round <= REDEPLOYS; round++) {
    made.push(await deployRound(round, () => project.again(made[0]!, "redeploy", {})));
  }
  stretches.push(await redeploying.stop());
  expect(stretches[0]!.versions).toEqual(expected);
  const back = [3, 17, 5, 12, 8];
  expect(back).toHaveLength(ROLLBACKS);
  expected.splice(0, expected.length, `v${REDEPLOYS}`, ...back.map((round) => `v${round}`));
  const rollingBack = load();
  for (const round of back) await project.deployed(await project.again(made[round]!, "rollback"));
  stretches.push(await rollingBack.stop());
  expect(stretches[1]!.versions).toEqual(expected);
  for (const { failures, wentBack, answers } of stretches) {
    expect(failures).toEqual([]);
    expect(wentBack).toEqual([]);
    expect(answers).toBeGreaterThan(1_000);
  }
});
