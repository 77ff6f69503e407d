import { cp } from "node:fs/promises";
import { join } from "node:path";
import { answers, deploy, freePort, inTurns, TOKEN } from "./deploying.ts";
import { docker, subnet } from "./docker.ts";
import { printed, ROOT, startServer, stop } from "./process.ts";
import type { Result } from "./run.ts";
import { tempFolder } from "./temp_folder.ts";

/**
 * A folder with a Dockerfile, after a change of one file, with the build cache of the previous build. Measures from the
 * request to the first 200 through the edge, compared with `docker build` and `docker run` by hand in a network of its
 * own, as the app gets one, alternately.
 */
export async function deployDocker(): Promise<Result> {
  await using folder = await tempFolder();
  const source = join(folder.path, "source");
  await cp(join(ROOT, "examples/docker-server"), source, { recursive: true });
  const settings = { PORT: "0", SLIPWAY_DATA: join(folder.path, "data"), SLIPWAY_ADMIN_TOKEN: TOKEN };
  const slipway = startServer({ ...settings, SLIPWAY_RUNTIME: "docker" });
  try {
    const [, api = "", edge = ""] = await printed(slipway, /API +(\S+)\/api\n[^]*Apps +http:\/\/\S+:(\d+)\n/);
    const server = join(source, "server.pl");
    const text = await Bun.file(server).text();
    const changed = () => Bun.write(server, `${text}# ${crypto.randomUUID()}\n`);
    const measured = await inTurns({
      slipway: async (name) => {
        await changed();
        return deploy({ api, edge }, { name: `docker-${name}`, localPath: source });
      },
      bare: async (name) => {
        await changed();
        return byHand(source, `slipway-bench-${name}`);
      },
    });
    return {
      ratio: measured.ratio,
      details: `slipway ${measured.slipway} ms, by hand ${measured.bare} ms, one file changed, ${measured.spread}, at most 1.15`,
    };
  } finally {
    await stop(slipway);
  }
}

async function byHand(source: string, name: string): Promise<number> {
  const port = freePort();
  const started = performance.now();
  await Promise.all([
    docker(["build", "--quiet", "--tag", name, source]),
    docker(["network", "create", "--subnet", subnet(), name]),
  ]);
  await docker([
    "run",
    "--detach",
    "--init",
    "--network",
    name,
    "--name",
    name,
    "--publish",
    `127.0.0.1:${port}:8080`,
    "--env",
    "PORT=8080",
    name,
  ]);
  await answers(port, `127.0.0.1:${port}`);
  const ms = performance.now() - started;
  await docker(["rm", "--force", "--volumes", name]);
  await docker(["network", "rm", name]);
  await docker(["rmi", name]);
  return ms;
}
