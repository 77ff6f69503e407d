import { baseImage, copyImage } from "./base_image.ts";
import { dockerEngine } from "./docker_engine.ts";
import { laneEngine } from "./lane_engine.ts";
import { laneNetwork } from "./lane_network.ts";
import type { Provision } from "./prepare_lane.ts";
import { NO_ENGINE } from "../servers/slipway_process.ts";
import { removeTestLeftovers } from "./test_leftovers.ts";

/**
 * The network numbers of plain lanes, besides the lane in the machine's network and those with an engine. Four lanes
 * keep two cores busy; more would only make each slower.
 */
const PLAIN = [0];
const PREPARE = new URL("./prepare_lane.ts", import.meta.url).pathname;

/** An isolated environment for test groups: other lanes cannot affect it. */
export interface Lane extends AsyncDisposable {
  /** The environment variables of its tests. */
  readonly environment: Readonly<Record<string, string>>;
  /** Wraps a command so that it runs in the lane. */
  inside(command: readonly string[]): readonly string[];
}

/** A lane with a container engine, in which more can be prepared. */
export interface EngineLane extends Lane {
  readonly host: string;
  /** Prepares images and servers for its tests, except those that it has. */
  prepare(wanted: readonly Provision[]): Promise<void>;
}

/**
 * Lanes for tests that need no container engine; they find none. The first uses the machine's network, the others their
 * own network namespaces if these can be created.
 */
export async function plainLanes(): Promise<readonly Lane[]> {
  const environment = { DOCKER_HOST: NO_ENGINE };
  const first: Lane = { environment, inside: besideUs, async [Symbol.asyncDispose]() {} };
  const networks = await Promise.all(PLAIN.map(laneNetwork));
  const others = networks.filter((network) => network !== undefined);
  return [first, ...others.map((network) => ({ ...network, environment }))];
}

/**
 * Opens `count` lanes, each with its own engine in its own network namespace. Engines keep their images for the next
 * run. Where this is impossible, such as without root, there is a single lane with the machine's engine.
 */
export async function engineLanes(count: number): Promise<readonly EngineLane[]> {
  const lanes = await Promise.all(Array.from({ length: count }, (_, index) => ownLane(index + 1)));
  const own = lanes.filter((lane) => lane !== undefined);
  const opened = own.length > 0 ? own : [await machineLane()];
  const [first, ...others] = opened;
  await baseImage(first!.host);
  await Promise.all(others.map(({ host }) => copyImage({ from: first!.host, to: host })));
  return opened;
}

async function ownLane(number: number): Promise<EngineLane | undefined> {
  await using opened = new AsyncDisposableStack();
  const network = Bun.which("dockerd") ? await laneNetwork(number) : undefined;
  if (!network) return undefined;
  opened.use(network);
  const { host } = opened.use(await laneEngine(number, network));
  return laneAt(host, network.inside, opened.move());
}

async function machineLane(): Promise<EngineLane> {
  await using opened = new AsyncDisposableStack();
  opened.use(await dockerEngine());
  const host = process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock";
  await removeTestLeftovers(host);
  opened.defer(() => removeTestLeftovers(host));
  return laneAt(host, besideUs, opened.move());
}

/** Runs a command in the environment of this process. */
function besideUs(command: readonly string[]): readonly string[] {
  return command;
}

function laneAt(host: string, inside: Lane["inside"], lifetime: AsyncDisposableStack): EngineLane {
  const environment: Record<string, string> = { DOCKER_HOST: host };
  const there = new Set<Provision>();
  return {
    host,
    environment,
    inside,
    async prepare(wanted) {
      const missing = wanted.filter((each) => !there.has(each));
      if (missing.length === 0) return;
      const program = Bun.spawn([...inside([process.execPath, PREPARE, ...missing])], {
        env: { ...process.env, ...environment },
        stdio: ["pipe", "pipe", "inherit"],
      });
      lifetime.defer(async () => {
        await program.stdin.end();
        await program.exited;
      });
      Object.assign(environment, JSON.parse(await lastLine(program.stdout)));
      for (const each of missing) there.add(each);
    },
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

/** Forwards lines to stdout until one is JSON, and returns that one. */
async function lastLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) {
    text += decoder.decode(bytes, { stream: true });
    const lines = text.split("\n");
    text = lines.pop()!;
    for (const line of lines) {
      if (line.startsWith("{")) return line;
      process.stdout.write(`${line}\n`);
    }
  }
  throw new Error("Cannot prepare a lane: its program exited early");
}
