import { join } from "node:path";
import { printed, startServer, stop } from "./process.ts";
import { inRounds } from "./rounds.ts";
import { tempFolder } from "./temp_folder.ts";

/** The admin token of benchmarked servers. */
export const TOKEN = "slp_bench_0123456789012345678901234567890123456789";
const ROUNDS = 3;
const SETTLED_MS = 20;

/** Measures the milliseconds of a deployment and of the baseline alternately, by default after a warm-up of each. */
export async function inTurns(
  { slipway, bare }: Record<"slipway" | "bare", (name: string) => Promise<number>>,
  { warmUp = true, rounds = ROUNDS }: { readonly warmUp?: boolean; readonly rounds?: number } = {},
) {
  const sides = {
    ours: (round: number) => slipway(round < 0 ? "warm" : `${round}`),
    other: (round: number) => bare(round < 0 ? "warm" : `${round}`),
  };
  const { ratio, ours, other, spread } = await inRounds(rounds, sides, { warmUp });
  return { ratio, slipway: Math.round(ours), bare: Math.round(other), spread };
}

/** The address of a server. */
export interface Server {
  readonly api: string;
  /** The port of its edge. */
  readonly edge: string;
}

/** Starts a server with a runtime, in a folder of its own. Disposal stops it and removes the folder. */
export async function deployingServer(
  runtime: "docker" | "process",
  others: Readonly<Record<string, string>> = {},
): Promise<Server & { readonly folder: string } & AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const { path: folder } = opened.use(await tempFolder());
  const settings = { PORT: "0", SLIPWAY_DATA: join(folder, "data"), SLIPWAY_ADMIN_TOKEN: TOKEN, ...others };
  const slipway = startServer({ ...settings, SLIPWAY_RUNTIME: runtime });
  opened.defer(() => stop(slipway));
  const [, api = "", edge = ""] = await printed(slipway, /API +(\S+)\/api\n[^]*Apps +http:\/\/\S+:(\d+)\n/);
  const held = opened.move();
  return { api, edge, folder, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

/** Creates a project, and measures from the request of its deployment to the first response of the app. */
export async function deploy(server: Server, project: Readonly<Record<string, unknown>>): Promise<number> {
  const made = await madeProject(server, project);
  const started = performance.now();
  const id = await requested(server, made.id);
  await answers(Number(server.edge), made.hostname);
  const ms = performance.now() - started;
  await brokenOff(server, id);
  return ms;
}

/** Creates a project. */
export async function madeProject({ api }: Server, project: Readonly<Record<string, unknown>>) {
  const { data } = await post<{ data: { id: string; hostname: string } }>(`${api}/api/projects`, project);
  return data;
}

/** Requests the deployment of a project; resolves to its id. */
export async function requested({ api }: Server, projectId: string): Promise<string> {
  const { data } = await post<{ data: { deployment_id: string } }>(`${api}/api/deployments`, { projectId });
  return data.deployment_id;
}

/** Deploys a project; resolves to the id of the deployment once it is ready. */
export async function deployed(server: Server, projectId: string): Promise<string> {
  const id = await requested(server, projectId);
  await settled(server.api, id);
  return id;
}

/** Deletes a deployment whose app responds, without waiting until it has stayed up for long enough. */
export async function brokenOff({ api }: Server, id: string): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  // Refused if it is ready already.
  await fetch(`${api}/api/deployments/${id}/cancel`, { method: "POST", headers });
  await removed(api, id);
}

/** Sends a request with a JSON body, or with these bytes. */
export async function post<T>(url: string, body: object | Uint8Array): Promise<T> {
  const bytes = body instanceof Uint8Array;
  const type = bytes ? "application/octet-stream" : "application/json";
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": type };
  const answer = await fetch(url, { method: "POST", headers, body: bytes ? body : JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as T;
}

/** Resolves once a deployment is ready. */
export async function settled(api: string, id: string): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  for (;;) {
    const answer = await fetch(`${api}/api/deployments/${id}`, { headers });
    const { data } = (await answer.json()) as { data: { status: string } };
    if (data.status === "ready") return;
    if (["failed", "partial_failure", "cancelled"].includes(data.status)) throw new Error(JSON.stringify(data));
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

/** Runs a shell command in a folder, with a free port as `PORT`. Disposal kills it. */
export function atHand(folder: string, command: string) {
  const port = freePort();
  const { PATH = "", HOME = "" } = process.env;
  const program = Bun.spawn(["/bin/sh", "-c", command], {
    cwd: folder,
    env: { PATH, HOME, PORT: String(port), NODE_ENV: "production" },
    stdio: ["ignore", "ignore", "ignore"],
    detached: true,
  });
  return {
    port,
    ended: program.exited,
    async [Symbol.asyncDispose]() {
      process.kill(-program.pid, "SIGKILL");
      await program.exited;
    },
  };
}
