import { post, settled, TOKEN } from "./deploying.ts";
import { httpLoad } from "./http_load.ts";
import { inRounds, type Measured } from "./rounds.ts";
import type { Line } from "./run.ts";
import { runningSlipway } from "./running_slipway.ts";

const CONNECTIONS = 16;
const ROUNDS = 9;
const LOAD_MS = 400;
const WARM_MS = 1_500;
const LINES = 20_000;
const PROCESSES = { SLIPWAY_RUNTIME: "process", DOCKER_HOST: "unix:///nonexistent/docker.sock" };

/** The names of these benchmarks. */
export const FORWARD = ["forward", "forward-latency", "forward-stream"] as const;

/**
 * Reads of a deployment in the cloud through the self-hosted server that is linked to it, compared with the same reads
 * at the cloud itself: many at once, one after the other, and the whole event stream of a build with many lines.
 */
export async function* forward(): AsyncGenerator<Line> {
  await using cloud = await runningSlipway({ ...PROCESSES, SLIPWAY_MODE: "cloud" });
  await using home = await runningSlipway(PROCESSES);
  const id = await promoted(`http://127.0.0.1:${home.port}`, `http://127.0.0.1:${cloud.port}`);
  const load = (port: number, connections: number, ms = LOAD_MS) => {
    const head = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
    return httpLoad({ port, request: `GET /api/deployments/${id} HTTP/1.1\r\n${head}`, connections, ms });
  };
  // Until hot code is compiled.
  for (const { port } of [home, cloud]) await load(port, CONNECTIONS, WARM_MS);
  const many = await inRounds(ROUNDS, {
    ours: () => load(home.port, CONNECTIONS),
    other: () => load(cloud.port, CONNECTIONS),
  });
  yield lineOf("forward", many, {
    unit: "reads/s",
    what: `GET /api/deployments/:id, ${CONNECTIONS} connections`,
    limit: "at least 0.4",
  });
  const alone = await inRounds(ROUNDS, {
    ours: async () => 1_000 / (await load(home.port, 1)),
    other: async () => 1_000 / (await load(cloud.port, 1)),
  });
  yield lineOf("forward-latency", alone, { unit: "ms", what: "one read after the other", limit: "at most 2.5" });
  const streams = await inRounds(ROUNDS, {
    ours: () => eventsPerSecond(home.port, id),
    other: () => eventsPerSecond(cloud.port, id),
  });
  const what = `the stream of a build of ${LINES} lines`;
  yield lineOf("forward-stream", streams, { unit: "events/s", what, limit: "at least 0.8" });
}

function lineOf(
  name: (typeof FORWARD)[number],
  { ratio, ours, other, spread }: Measured,
  { unit, what, limit }: Readonly<Record<"unit" | "what" | "limit", string>>,
): Line {
  const shown = (value: number) => (unit === "ms" ? value.toFixed(2) : Math.round(value));
  const rates = `forwarded ${shown(ours)} ${unit}, at the cloud ${shown(other)} ${unit}`;
  return { name, ratio, details: [rates, what, spread, limit].join("; ") };
}

/** Links a server to a cloud and promotes a site whose build prints many lines; resolves to the deployment's id. */
async function promoted(home: string, cloud: string): Promise<string> {
  const { data: link } = await post<{ data: { token: string } }>(`${cloud}/api/tokens`, { name: "link", link: true });
  const linked = await fetch(`${home}/api/cloud/link`, {
    method: "PUT",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ url: cloud, token: link.token }),
  });
  if (!linked.ok) throw new Error(await linked.text());
  const print = `for (let line = 0; line < ${LINES}; line++) console.log(line + " of ${LINES} compiled");`;
  const archive = await new Bun.Archive({ "index.html": "hello", "print.ts": print }, { compress: "gzip" }).bytes();
  const settings = { name: "site", projectType: "static", buildCommand: "bun print.ts" };
  const { data: project } = await post<{ data: { id: string } }>(`${home}/api/projects`, settings);
  const { sessionId } = await post<{ sessionId: string }>(`${home}/api/projects/folder/session`, { mode: "cloud" });
  await post(`${home}/api/projects/folder/upload/${sessionId}`, archive);
  const body = { projectId: project.id, uploadSessionId: sessionId };
  const { deployment_id: id } = await post<{ deployment_id: string }>(`${home}/api/deployments/build/access`, body);
  await settled(home, id);
  return id;
}

/** Reads the whole event stream of a deployment. */
async function eventsPerSecond(port: number, id: string): Promise<number> {
  const started = performance.now();
  const headers = { authorization: `Bearer ${TOKEN}` };
  const { body } = await fetch(`http://127.0.0.1:${port}/api/deployments/${id}/stream`, { headers });
  let events = 0;
  const decoder = new TextDecoder("latin1");
  for await (const bytes of body!) events += decoder.decode(bytes).split("\nevent: ").length - 1;
  if (events < LINES) throw new Error(`the stream had only ${events} events`);
  return events / ((performance.now() - started) / 1_000);
}
