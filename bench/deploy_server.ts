import { cp } from "node:fs/promises";
import { join } from "node:path";
import { EngineApi } from "../adapters/docker/engine/engine_api.ts";
import { type DistantEngine, distantEngine } from "../tests/support/peers/distant_engine.ts";
import { DOCKER_HOST } from "../tests/support/peers/docker_world.ts";
import { copyImage } from "../tests/support/runner/base_image.ts";
import { answers, brokenOff, deployingServer, inTurns, madeProject, post, type Server, TOKEN } from "./deploying.ts";
import { ROOT } from "./process.ts";
import type { Result } from "./run.ts";
import { median } from "./temp_folder.ts";

const STEPS = ["build", "start"] as const;
const PINGS = 50;

/** How long the steps of each deployment took, by place. */
type StepTimes = Record<"server" | "local", Record<(typeof STEPS)[number], number>[]>;

/**
 * A folder with a Dockerfile, after a change of one file, with the build cache of the previous build. Measures from the
 * request to the first 200 through the edge, of a deployment to a server over SSH compared with one to this machine,
 * alternately.
 */
export async function deployServer(): Promise<Result> {
  await using opened = new AsyncDisposableStack();
  const distant = opened.use(await distantEngine());
  await copyImage({ from: DOCKER_HOST, to: distant.host });
  const slipway = opened.use(await deployingServer("docker", { DOCKER_HOST }));
  const source = join(slipway.folder, "source");
  await cp(join(ROOT, "examples/docker-server"), source, { recursive: true });
  const serverId = await registered(slipway, distant);
  const times: StepTimes = { server: [], local: [] };
  const file = join(source, "server.pl");
  const text = await Bun.file(file).text();
  const deployed = async (deployTarget: "server" | "local", name: string) => {
    await Bun.write(file, `${text}# ${crypto.randomUUID()}\n`);
    const project = await madeProject(slipway, { name: `${deployTarget}-${name}`, localPath: source });
    const place = { projectId: project.id, deployTarget, ...(deployTarget === "server" && { serverId }) };
    const started = performance.now();
    const { deployment_id: id } = await post<{ deployment_id: string }>(
      `${slipway.api}/api/deployments/build/access`,
      place,
    );
    await answers(Number(slipway.edge), project.hostname);
    const ms = performance.now() - started;
    times[deployTarget].push(await stepTimes(slipway, id));
    await brokenOff(slipway, id);
    return ms;
  };
  const measured = await inTurns({
    slipway: (name) => deployed("server", name),
    bare: (name) => deployed("local", name),
  });
  const { ratio, slipway: there, bare: here, spread } = measured;
  const details = `server ${there} ms, here ${here} ms, one file changed, ${spread}; ${await reasons(times, distant)}`;
  return { ratio, details };
}

/** Where the difference comes from: the steps that wait for the engine, and how long one request to it takes. */
async function reasons(times: StepTimes, { engine }: DistantEngine): Promise<string> {
  const steps = STEPS.map((step) => {
    const [there, here] = [times.server, times.local].map((all) => Math.round(median(all.map((each) => each[step]))));
    return `${step} ${there} to ${here} ms`;
  });
  const [far, near] = [await pingMs(engine), await pingMs(new EngineApi(DOCKER_HOST))];
  return `${steps.join(", ")}; a request to the engine takes ${far.toFixed(1)} ms over SSH and ${near.toFixed(1)} ms here`;
}

async function pingMs(engine: EngineApi): Promise<number> {
  const all: number[] = [];
  for (let count = 0; count < PINGS; count++) {
    const started = performance.now();
    await (await engine.request("GET", "/_ping")).text();
    all.push(performance.now() - started);
  }
  return median(all);
}

async function stepTimes({ api }: Server, id: string): Promise<StepTimes["server"][number]> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const answer = await fetch(`${api}/api/deployments/${id}/build`, { headers });
  const { data } = (await answer.json()) as { data: { steps: readonly { name: string; durationMs: number | null }[] } };
  const of = (name: string) => data.steps.find((step) => step.name === name)?.durationMs ?? 0;
  return { build: of("build"), start: of("start") };
}

/** Adds a server to the organization; resolves to its id. */
async function registered({ api }: Server, { server }: DistantEngine): Promise<string> {
  const { host: sshHost, port: sshPort, privateKey: sshPrivateKey, hostKey } = server;
  const body = { name: "Benchmark", sshHost, sshPort, sshUser: "worker", sshPrivateKey, hostKey };
  return (await post<{ data: { id: string } }>(`${api}/api/servers`, body)).data.id;
}
