import { cp } from "node:fs/promises";
import { join } from "node:path";
import { printed, ROOT, start, stop } from "./process.ts";
import type { Result } from "./run.ts";
import { median, tempFolder } from "./temp_folder.ts";

const TOKEN = "slp_bench_0123456789012345678901234567890123456789";
const ROUNDS = 7;
const SOURCE = join(ROOT, "examples/bun-server");
/** What a deployment of the example runs; there is nothing to install or to build. */
const COMMAND = "bun run start";
const AT_ONCE = 10;

/** From the request to the first 200 through the edge, against the same commands by hand, in turns; also of ten at once. */
export async function deployProcess(): Promise<Result> {
  await using folder = await tempFolder();
  const settings = { PORT: "0", SLIPWAY_DATA: join(folder.path, "data"), SLIPWAY_ADMIN_TOKEN: TOKEN };
  const slipway = start("main.ts", [], { ...settings, SLIPWAY_RUNTIME: "process" }, "ignore");
  try {
    const [, api = "", edge = ""] = await printed(slipway, /API +(\S+)\/api\n[^]*Apps +http:\/\/\S+:(\d+)\n/);
    const ours = (name: string) => deploy({ api, edge }, name);
    const bare = (name: string) => byHand(join(folder.path, name));
    await ours("warm");
    await bare("warm");
    const rounds: { slipway: number; bare: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      rounds.push({ slipway: await ours(`round-${round}`), bare: await bare(`round-${round}`) });
    }
    const many = { slipway: await atOnce(ours), bare: await atOnce(bare) };
    const per = (pick: (round: (typeof rounds)[number]) => number) => Math.round(median(rounds.map(pick)));
    return {
      ratio: median(rounds.map((round) => round.slipway / round.bare)),
      details:
        `slipway ${per((round) => round.slipway)} ms, by hand ${per((round) => round.bare)} ms, at most 1.3; ` +
        `ten at once: ${(many.slipway / many.bare).toFixed(2)}, slipway ${Math.round(many.slipway)} ms, by hand ${Math.round(many.bare)} ms`,
    };
  } finally {
    await stop(slipway);
  }
}

/** How many milliseconds it takes until each of several has answered. */
async function atOnce(work: (name: string) => Promise<number>): Promise<number> {
  const times = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => work(`many-${index}`)));
  return Math.max(...times);
}

/** Makes a project, and measures from the request for its deployment on. */
async function deploy({ api, edge }: { readonly api: string; readonly edge: string }, name: string): Promise<number> {
  const post = async <T>(path: string, body: object): Promise<T> => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const answer = await fetch(`${api}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as T;
  };
  const { data } = await post<{ data: { id: string; hostname: string } }>("/api/projects", { name, localPath: SOURCE });
  const started = performance.now();
  const made = await post<{ data: { deployment_id: string } }>("/api/deployments", { projectId: data.id });
  await answers(Number(edge), data.hostname);
  const ms = performance.now() - started;
  await settled(api, made.data.deployment_id);
  return ms;
}

async function settled(api: string, id: string): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  for (;;) {
    const answer = await fetch(`${api}/api/deployments/${id}`, { headers });
    const { data } = (await answer.json()) as { data: { status: string } };
    if (data.status === "ready") return;
    if (data.status === "failed") throw new Error(JSON.stringify(data));
    await Bun.sleep(100);
  }
}

/** The bare commands: the folder copied, the command started, asked until it answers. */
async function byHand(folder: string): Promise<number> {
  const port = freePort();
  const started = performance.now();
  await cp(SOURCE, folder, { recursive: true });
  const { PATH = "", HOME = "" } = process.env;
  const program = Bun.spawn(["/bin/sh", "-c", COMMAND], {
    cwd: folder,
    env: { PATH, HOME, PORT: String(port), NODE_ENV: "production" },
    stdio: ["ignore", "ignore", "ignore"],
    detached: true,
  });
  await answers(port, `127.0.0.1:${port}`);
  const ms = performance.now() - started;
  process.kill(-program.pid, "SIGKILL");
  await program.exited;
  return ms;
}

async function answers(port: number, host: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { host } }).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    await Bun.sleep(2);
  }
}

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
