import { median } from "./temp_folder.ts";

/** The admin token of benchmarked servers. */
export const TOKEN = "slp_bench_0123456789012345678901234567890123456789";
const ROUNDS = 5;
const SETTLED_MS = 20;

/** Measures a deployment and the baseline alternately, after a warm-up of each. */
export async function inTurns({ slipway, bare }: Record<"slipway" | "bare", (name: string) => Promise<number>>) {
  await slipway("warm");
  await bare("warm");
  const rounds: { slipway: number; bare: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ slipway: await slipway(`${round}`), bare: await bare(`${round}`) });
  }
  return {
    ratio: median(rounds.map((round) => round.slipway / round.bare)),
    slipway: Math.round(median(rounds.map((round) => round.slipway))),
    bare: Math.round(median(rounds.map((round) => round.bare))),
  };
}

/** The address of a server. */
export interface Server {
  readonly api: string;
  /** The port of its edge. */
  readonly edge: string;
}

/** Creates a project, and measures from the request of its deployment to the first response of the app. */
export async function deploy(server: Server, project: Readonly<Record<string, unknown>>): Promise<number> {
  const made = await madeProject(server, project);
  const started = performance.now();
  const deployment = deployed(server, made.id);
  await answers(Number(server.edge), made.hostname);
  const ms = performance.now() - started;
  await removed(server.api, await deployment);
  return ms;
}

/** Creates a project. */
export async function madeProject({ api }: Server, project: Readonly<Record<string, unknown>>) {
  const { data } = await post<{ data: { id: string; hostname: string } }>(`${api}/api/projects`, project);
  return data;
}

/** Deploys a project; resolves to the id of the deployment once it is ready. */
export async function deployed({ api }: Server, projectId: string): Promise<string> {
  const { data } = await post<{ data: { deployment_id: string } }>(`${api}/api/deployments`, { projectId });
  await settled(api, data.deployment_id);
  return data.deployment_id;
}

async function post<T>(url: string, body: object): Promise<T> {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as T;
}

async function settled(api: string, id: string): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  for (;;) {
    const answer = await fetch(`${api}/api/deployments/${id}`, { headers });
    const { data } = (await answer.json()) as { data: { status: string } };
    if (data.status === "ready") return;
    if (data.status === "failed" || data.status === "partial_failure") throw new Error(JSON.stringify(data));
    await Bun.sleep(SETTLED_MS);
  }
}

/** Deletes the deployment, because the app would outlive its server. */
export async function removed(api: string, id: string): Promise<void> {
  await fetch(`${api}/api/deployments/${id}`, { method: "DELETE", headers: { authorization: `Bearer ${TOKEN}` } });
}

/** Resolves once a host responds with 200. */
export async function answers(port: number, host: string, path = "/"): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { host } }).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    await Bun.sleep(2);
  }
}

/** Returns a currently free port. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
