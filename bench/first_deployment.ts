import { join } from "node:path";
import { answers, atHand, deployingServer, post, removed, type Server, settled } from "./deploying.ts";
import type { Result } from "./run.ts";
import { median } from "./temp_folder.ts";

const ROUNDS = 3;
const LIMIT_MS = { answers: 350, ready: 2_000 };
const FILES = {
  "package.json": JSON.stringify({ name: "two-files", scripts: { start: "bun server.ts" } }),
  "server.ts": 'Bun.serve({ port: Number(process.env.PORT), fetch: () => new Response("hello") });\n',
};

/**
 * The first deployment of a new project of two uploaded files: from the request for an upload session to the first
 * response of the app, and to `ready`, which includes the time that a release has to stay up. The ratio is to starting
 * the app by hand.
 */
export async function firstDeployment(): Promise<Result> {
  await using server = await deployingServer("process");
  const archive = await new Bun.Archive(FILES, { compress: "gzip" }).bytes();
  const times: { readonly answers: number; readonly ready: number; readonly bare: number }[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const bare = await startedByHand(join(server.folder, `bare-${round}`));
    const ours = await uploadAndDeploy(server, archive, `first-${round < 0 ? "warm" : round}`);
    if (round >= 0) times.push({ ...ours, bare });
  }
  const middle = (pick: (time: (typeof times)[number]) => number) => Math.round(median(times.map(pick)));
  return {
    ratio: median(times.map((time) => time.answers / time.bare)),
    details:
      `two files uploaded: answers after ${middle((time) => time.answers)} ms, at most ${LIMIT_MS.answers}; ` +
      `ready after ${middle((time) => time.ready)} ms, at most ${LIMIT_MS.ready}; ` +
      `started by hand it answers after ${middle((time) => time.bare)} ms; ${ROUNDS} rounds`,
  };
}

/** Uploads a folder into a new project and deploys it, as the README's tour does. */
async function uploadAndDeploy(server: Server, archive: Uint8Array, name: string) {
  const { api } = server;
  const started = performance.now();
  const { sessionId } = await post<{ sessionId: string }>(`${api}/api/projects/folder/session`, {});
  await post(`${api}/api/projects/folder/upload/${sessionId}`, archive);
  const { data: project } = await post<{ data: { id: string; hostname: string } }>(`${api}/api/projects`, { name });
  const body = { projectId: project.id, uploadSessionId: sessionId };
  const { deployment_id: id } = await post<{ deployment_id: string }>(`${api}/api/deployments/build/access`, body);
  const ready = settled(api, id).then(() => performance.now() - started);
  await answers(Number(server.edge), project.hostname);
  const answered = performance.now() - started;
  const times = { answers: answered, ready: await ready };
  await removed(api, id);
  return times;
}

async function startedByHand(folder: string): Promise<number> {
  const started = performance.now();
  for (const [name, text] of Object.entries(FILES)) await Bun.write(join(folder, name), text);
  await using app = atHand(folder, "bun server.ts");
  await answers(app.port, `127.0.0.1:${app.port}`);
  return performance.now() - started;
}
