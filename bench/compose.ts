import { cp } from "node:fs/promises";
import { join } from "node:path";
import { type ByHand, byHand, type Hand } from "./compose_by_hand.ts";
import {
  answers,
  brokenOff,
  deployed,
  deployingServer,
  inTurns,
  madeProject,
  removed,
  requested,
  type Server,
  settled,
} from "./deploying.ts";
import { dropLabelled } from "./docker.ts";
import { ROOT } from "./process.ts";
import type { Line, Result } from "./run.ts";

const SERVICES = ["web", "api", "worker", "migrate", "db"] as const;
const LIMIT = 1.5;
/** Few, because each takes ten seconds, and they differ little. */
const ROUNDS = 2;

/** Both benchmarks on one server. The first one fills the build cache for the second. */
export async function* compose(): AsyncGenerator<Line> {
  await using scene = await onShop();
  yield { name: "compose-noop", ...(await composeNoop(scene)) };
  yield { name: "compose-deploy", ...(await composeDeploy(scene)) };
}

/**
 * The first deployment of five services, after a change of one file in each. Measures from the request until web and
 * api respond through the edge, which they do once all services are up, compared with the same containers by plain
 * `docker` commands, alternately. Both use the build cache of the previous build.
 */
async function composeDeploy({ source, server, hand }: Scene): Promise<Result> {
  const sides = {
    slipway: async (name: string) => {
      await change(source);
      const project = await madeProject(server, shop(`first-${name}`, source));
      await using _ = leftBehind(project.id);
      const started = performance.now();
      const id = await requested(server, project.id);
      const answered = ["/", "/api/orders"].map((path) => answers(Number(server.edge), project.hostname, path));
      // Also stops waiting for a failed deployment, which never responds.
      await Promise.race([Promise.all(answered), settled(server.api, id)]);
      const ms = performance.now() - started;
      await brokenOff(server, id);
      return ms;
    },
    bare: async (name: string) => {
      await change(source);
      await using standing = hand(name);
      return await standing.bringUp();
    },
  };
  const measured = await inTurns(sides, { warmUp: false, rounds: ROUNDS });
  return { ratio: measured.ratio, details: summary(measured, "five services, one file of each changed") };
}

/**
 * A deployment of five unchanged services, from the request until it is ready, compared with plain `docker` commands
 * that find out the same: build each service (all cached) and inspect its image and container, alternately.
 */
async function composeNoop({ source, server, hand }: Scene): Promise<Result> {
  await change(source);
  const project = await madeProject(server, shop("same", source));
  await using _ = leftBehind(project.id);
  let last = await deployed(server, project.id);
  await using standing = hand("same");
  await standing.bringUp();
  const measured = await inTurns({
    slipway: async () => {
      const started = performance.now();
      last = await deployed(server, project.id);
      return performance.now() - started;
    },
    bare: () => standing.lookAtAll(),
  });
  // Otherwise the server would watch its services while the next benchmark is measured.
  await removed(server.api, last);
  return { ratio: measured.ratio, details: summary(measured, "five services, nothing changed") };
}

interface Scene extends AsyncDisposable {
  /** The project folder. */
  readonly source: string;
  readonly server: Server;
  /** Creates the same containers by hand, with this name. */
  readonly hand: (name: string) => ByHand;
}

/** A server and a folder with the shop. Disposal removes both. */
async function onShop(): Promise<Scene> {
  await using opened = new AsyncDisposableStack();
  const server = opened.use(await deployingServer("docker"));
  const source = join(server.folder, "source");
  for (const name of ["web", "api"]) {
    await cp(join(ROOT, "examples/compose-shop", name), join(source, name), { recursive: true });
  }
  await cp(join(ROOT, "bench/compose_shop"), source, { recursive: true });
  const hand = (name: string) => byHand({ source, name: `slipway-bench-${process.pid}-${name}`, services: SHOP });
  const held = opened.move();
  return { source, server, hand, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

/** The services of `compose_shop/compose.yaml`, as `docker run` arguments. */
const SHOP: readonly Hand[] = [
  {
    name: "web",
    port: 8080,
    path: "/",
    after: ["api"],
    words: ["--env", "API_URL=http://api:3000", "--env", "GREETING=Welcome to the shop"],
  },
  {
    name: "api",
    port: 3000,
    path: "/api/orders",
    after: ["db", "migrate"],
    until: "healthy",
    words: ["--env", "DB_HOST=db", ...checked()],
  },
  { name: "worker", after: ["db", "migrate"], words: ["--restart", "always"] },
  { name: "migrate", after: ["db"], until: "exited", words: [] },
  { name: "db", after: [], until: "healthy", volume: "/data", words: checked() },
];

function checked(): readonly string[] {
  return [
    "--health-cmd",
    "perl /app/check.pl",
    "--health-interval",
    "1s",
    "--health-timeout",
    "2s",
    "--health-retries",
    "30",
  ];
}

function shop(name: string, localPath: string) {
  const publicEndpoints = [
    { service: "web", port: 8080 },
    { service: "api", port: 3000, targetPath: "/api" },
  ];
  return { name: `shop-${name}`, localPath, publicEndpoints };
}

/** Changes a file of every service, so that all are rebuilt. */
async function change(source: string): Promise<void> {
  for (const name of SERVICES) {
    const file = join(source, name, MAIN[name]);
    const text = await Bun.file(file).text();
    await Bun.write(file, `${text.replace(/\n# [0-9a-f-]{36}\n$/, "\n")}# ${crypto.randomUUID()}\n`);
  }
}

const MAIN = {
  web: "server.pl",
  api: "server.pl",
  worker: "worker.pl",
  migrate: "migrate.pl",
  db: "server.pl",
} as const;

/** The engine's resources of a project. Disposal removes them. */
function leftBehind(projectId: string): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      await dropLabelled(`slipway.project=${projectId}`);
      await dropLabelled(`slipway.scope=${projectId}`);
    },
  };
}

function summary(
  { slipway, bare, spread }: { readonly slipway: number; readonly bare: number; readonly spread: string },
  what: string,
): string {
  return `slipway ${slipway} ms, by hand ${bare} ms, ${what}, ${spread}, at most ${LIMIT}`;
}
