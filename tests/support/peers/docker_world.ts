import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ReachPort } from "../../../adapters/docker/containers/container_listening.ts";
import { DockerRuntime } from "../../../adapters/docker/containers/docker_runtime.ts";
import { DockerVolumes } from "../../../adapters/docker/containers/docker_volumes.ts";
import { OwnContainers } from "../../../adapters/docker/containers/own_containers.ts";
import { DockerServiceNetworks } from "../../../adapters/docker/networks/service_networks.ts";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import type { RunnableImage } from "../../../ports/services/runtime.ts";
import type { ContractPrograms, RuntimeForContract } from "../../contracts/runtime.ts";
import { run } from "../runner/command.ts";
import { emptyEngine } from "../runner/empty_engine.ts";
import { TEST_LABEL } from "../runner/test_leftovers.ts";

const TINY = new URL("../../images/tiny", import.meta.url).pathname;

/** The address of the tests' container engine. */
export const DOCKER_HOST = process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock";

/** The port that the contract's programs listen on inside the container. */
export const INNER_PORT = 8080;

const WEB = `echo started; mkdir -p /tmp/$$; printf %s "$GREETING" >/tmp/$$/index.html; exec httpd -f -p ${INNER_PORT} -h /tmp/$$`;

/** The contract's programs, for BusyBox. */
export const DOCKER_PROGRAMS: ContractPrograms = {
  web: WEB,
  talking: "printf 'one\\ntwo\\nthree\\nfour\\nfive\\n'; exec sleep 600",
  crashing: "exit 3",
  silent: "exec sleep 600",
  greedy: "x=a; while :; do x=$x$x; done",
  polite: `trap 'echo bye; printf "for good"; exit 0' TERM; exec 2>/dev/null; echo started; while :; do sleep 0.05; done`,
  stubborn: `trap '' TERM; (${WEB}) & while :; do wait; done`,
};

/** A Docker runtime with its own installation id. */
export interface DockerWorld extends RuntimeForContract<RunnableImage> {
  readonly runtime: DockerRuntime;
  readonly volumes: DockerVolumes;
  readonly serviceNetworks: DockerServiceNetworks;
  readonly installation: string;
  /** The folder where its servers record the instances that they are starting. */
  readonly folder: string;
  readonly image: string;
  /** Another runtime of the same installation, as another server would have. */
  another(dockerHost?: string): DockerRuntime;
  /** The prefix of its container and network names. */
  readonly prefix: string;
  /** Runs the Docker CLI; resolves to its output. */
  docker(...words: readonly string[]): Promise<string>;
  /** Asks the engine for everything of this installation with these labels; costs a tenth of what the CLI does. */
  list<T>(path: "/containers/json" | "/networks" | "/volumes", labels?: readonly string[]): Promise<T>;
  /** The container id of an instance, looked up without the runtime. */
  containerOf(instanceId: string): Promise<string>;
}

const built = new Map<string, Promise<string>>();

/** The digest of an image with a shell and a web server, built if it does not exist. */
export function tinyImage(target: "tiny" | "furnished" = "tiny"): Promise<string> {
  const image = built.get(target) ?? found(target);
  built.set(target, image);
  return image;
}

/** Tagged with the hash of its Dockerfile, so that an image in use is never rebuilt. */
async function found(target: string): Promise<string> {
  const text = await readFile(`${TINY}/Dockerfile`, "utf8");
  const version = new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 12);
  const [name, named] = [`slipway-test-${target}`, `slipway-test-${target}:${version}`];
  const inspect = () => run(["docker", "--host", DOCKER_HOST, "image", "inspect", "--format", "{{.Id}}", named]);
  if (!(await inspect()).ok) {
    await docker(DOCKER_HOST, "build", "--quiet", "--tag", named, "--tag", name, "--target", target, TINY);
  }
  return (await inspect()).output.trim();
}

/** An engine of another machine, with the tiny image. */
export interface DistantWorld {
  readonly engine: EngineApi;
  readonly reach: ReachPort;
  /** The digest of its tiny image. */
  readonly image: string;
}

/** Options of a runtime. */
export interface DockerWorldOptions {
  /** Whether it watches its containers. Defaults to true. */
  readonly watches?: boolean;
  /** The engine, if it is that of another machine, which `dockerHost` leads to. */
  readonly distant?: DistantWorld;
}

/** Opens a runtime. Disposal removes everything of its installation. */
export async function dockerWorld(
  dockerHost = DOCKER_HOST,
  { watches = true, distant }: DockerWorldOptions = {},
): Promise<DockerWorld> {
  const image = distant?.image ?? (await tinyImage());
  const installation = `test-${crypto.randomUUID()}`;
  const engine = distant?.engine ?? new EngineApi(dockerHost);
  const folder = join(tmpdir(), `slipway-starting-${installation}`);
  const there = distant ? { reach: distant.reach } : {};
  const options = { engine, installation, folder, labels: { [TEST_LABEL]: "1" }, ...there };
  const another = (host?: string) => new DockerRuntime({ ...options, ...(host && { engine: new EngineApi(host) }) });
  const runtime = another();
  if (watches) await runtime.supervise();
  const ask = (...words: readonly string[]) => docker(dockerHost, ...words);
  const own = `slipway.installation=${installation}`;
  const list = <T>(path: string, labels: readonly string[] = []) =>
    engine.json<T>("GET", path, { query: { all: true, filters: JSON.stringify({ label: [own, ...labels] }) } });
  return {
    runtime,
    volumes: new DockerVolumes(options),
    serviceNetworks: new DockerServiceNetworks(options),
    installation,
    folder,
    prefix: new OwnContainers(engine, installation).prefix,
    image,
    another,
    docker: ask,
    list,
    async containerOf(instanceId) {
      const labels = [`slipway.instance=${instanceId}`];
      const all = await list<readonly { readonly Id: string }[]>("/containers/json", labels);
      return all.map(({ Id }) => Id).join("\n");
    },
    keepsContainerId: "a container that is restarted is the same container",
    numbersHaveGaps: "numbers are times, so that they are the same on every server, also when old lines were dropped",
    runs: (command) => ({ kind: "image", image, command, ports: [INNER_PORT] }),
    programs: DOCKER_PROGRAMS,
    async [Symbol.asyncDispose]() {
      await runtime[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
      await emptyEngine(dockerHost, { label: own });
    },
  };
}

async function docker(host: string, ...words: readonly string[]): Promise<string> {
  const { ok, output, lastLine } = await run(["docker", "--host", host, ...words]);
  if (!ok) throw new Error(`docker ${words[0]}: ${lastLine}`);
  return output.trim();
}
