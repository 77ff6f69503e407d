import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { hostKeyFingerprint } from "../../../domain/projects/deploy_key.ts";
import { Secret } from "../../../domain/secret.ts";
import type { RemoteTarget } from "../../../ports/servers/remote_hosts.ts";
import { keyPair } from "../inputs/key_pair.ts";
import { run } from "../runner/command.ts";
import { TEST_LABEL } from "../runner/test_leftovers.ts";
import { testPort } from "../servers/test_port.ts";
import { DOCKER_HOST, tinyImage } from "./docker_world.ts";
import { managedImage } from "./managed_image.ts";

/** Who may log in: root, a member of the group `docker`, and somebody who may not use the engine. */
export type ManagedUser = "root" | "worker" | "outsider";

/** Options of a managed server. */
export interface ManagedServerOptions {
  /** Lines of sshd's configuration, before all others: `AllowStreamLocalForwarding no`. */
  readonly sshdOptions?: readonly string[];
}

/** Input and user of a program. */
export interface ExecOptions {
  readonly input?: Uint8Array;
  /** Defaults to root. */
  readonly user?: ManagedUser;
}

/** A machine with a real OpenSSH server and a container engine of its own. Disposal removes it with all its data. */
export interface ManagedServer extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Its own address, at which the ports that its containers publish answer. */
  readonly address: string;
  /** The fingerprint of its only host key: `SHA256:…`. */
  readonly hostKey: string;
  /** The key that every user logs in with, in OpenSSH's format. */
  readonly privateKey: string;
  /** The address of its engine for programs on this machine. */
  readonly engine: string;
  /** Address, host key and credentials of a user. */
  target(user: ManagedUser): RemoteTarget;
  /** Runs a program on it and resolves to its output. Rejects if it fails. */
  exec(argv: readonly string[], options?: ExecOptions): Promise<string>;
  /**
   * Runs a client of its engine on this machine and resolves to the output without surrounding space. Rejects if it
   * fails.
   */
  docker(argv: readonly string[], options?: Pick<ExecOptions, "input">): Promise<string>;
  /** Puts an image with a shell and a web server into its engine, as `tiny:latest`. */
  loadTinyImage(): Promise<void>;
  /** Stops its engine as a shutdown does, with all containers: those that ignore the signal for a second are killed. */
  stopEngine(): Promise<void>;
  /** Starts its engine again; resolves when it answers. */
  startEngine(): Promise<void>;
  /** Suspends and resumes the whole machine: connections to it hang. */
  pause(): Promise<void>;
  unpause(): Promise<void>;
  /** Cuts the power: connections to it are refused. */
  kill(): Promise<void>;
  /** Boots it again after `kill()`, with the same address, keys and data; resolves when its engine answers. */
  start(): Promise<void>;
}

/** Long, because a busy machine needs it. A container that has exited is noticed at once. */
const READY_WITHIN = 120_000;
const BANNER_WITHIN = 5_000;
const POLL_MS = 30;
const LOG_LINES = 40;
/** All that an engine in a container needs. Not `--privileged`, which fails where `CAP_SYS_RESOURCE` is missing. */
const RIGHTS = Object.entries({
  "--cap-add": ["ALL"],
  "--cap-drop": ["SYS_RESOURCE"],
  "--cgroupns": ["private"],
  "--device-cgroup-rule": ["a *:* rwm"],
  "--security-opt": ["seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined"],
  "--tmpfs": ["/run", "/tmp"],
}).flatMap(([option, values]) => values.map((value) => `${option}=${value}`));

/** Starts a server, whose image is built if it does not exist; resolves when its engine answers. */
export async function startManagedServer({ sshdOptions = [] }: ManagedServerOptions = {}): Promise<ManagedServer> {
  const image = await managedImage();
  const [user, machine] = [keyPair(), keyPair()];
  await using undo = new AsyncDisposableStack();
  // Chosen here, because the engine would choose another one when the container starts again.
  const { port } = undo.use(testPort());
  const name = `slipway-managed-${crypto.randomUUID()}`;
  const shared = await mkdtemp(join(tmpdir(), "m-"));
  undo.defer(() => rm(shared, { recursive: true, force: true }));
  const labels = ["--label", `${TEST_LABEL}=1`];
  // A separate network: on the shared bridge, where containers come and go, packets can get lost for seconds.
  await client(["network", "create", ...labels, name]);
  undo.defer(async () => void (await run(["docker", "--host", DOCKER_HOST, "network", "rm", name])));
  const environment = {
    AUTHORIZED_KEYS: user.public,
    HOST_KEY: machine.private.trim(),
    SSHD_OPTIONS: sshdOptions.join("\n"),
  };
  const variables = Object.keys(environment).flatMap((variable) => ["--env", variable]);
  const where = [
    "--name",
    name,
    "--network",
    name,
    "--publish",
    `127.0.0.1:${port}:22`,
    "--volume",
    `${shared}:/shared`,
  ];
  undo.defer(async () => void (await run(["docker", "--host", DOCKER_HOST, "rm", "--force", "--volumes", name])));
  await client(["run", "--detach", ...where, ...labels, ...RIGHTS, ...variables, image], { environment });
  const address = await listening(port, name);
  const hostKey = hostKeyFingerprint(machine.public.split(" ").slice(0, 2).join(" "))!;
  const engine = `unix://${shared}/docker.sock`;
  const at = { host: "127.0.0.1", port, hostKey };
  const lifetime = undo.move();
  return {
    ...at,
    address,
    privateKey: user.private,
    engine,
    ...controls({ name, engine }, at, user.private),
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

type Address = Pick<ManagedServer, "host" | "port" | "hostKey">;
type Controls = Omit<ManagedServer, keyof Address | "address" | "engine" | "privateKey" | typeof Symbol.asyncDispose>;

/** The container of a server, and the address of the engine in it. */
interface Machine {
  readonly name: string;
  readonly engine: string;
}

function controls({ name, engine }: Machine, at: Address, privateKey: string): Controls {
  const exec: ManagedServer["exec"] = (argv, { input, user = "root" } = {}) =>
    client(["exec", "--user", user, ...(input ? ["--interactive"] : []), name, ...argv], { input });
  const act = async (action: string) => void (await client([action, name]));
  return {
    exec,
    target: (user) => ({ ...at, user, privateKey: new Secret(privateKey) }),
    docker: async (argv, { input } = {}) => (await client(argv, { input, engine })).trim(),
    loadTinyImage: async () => void (await exec(["load-tiny"], { input: await tinyArchive() })),
    stopEngine: async () => void (await exec(["stop-engine"])),
    startEngine: async () => void (await exec(["start-engine"])),
    pause: () => act("pause"),
    unpause: () => act("unpause"),
    kill: () => act("kill"),
    async start() {
      await act("start");
      await listening(at.port, name);
    },
  };
}

let archive: Promise<Uint8Array> | undefined;

/** The tiny image as an archive, which is made once. */
function tinyArchive(): Promise<Uint8Array> {
  archive ??= tinyImage().then(async (image) => {
    const child = Bun.spawn(["docker", "--host", DOCKER_HOST, "save", image], { stdio: ["ignore", "pipe", "inherit"] });
    const [bytes, code] = await Promise.all([child.stdout.bytes(), child.exited]);
    if (code !== 0) throw new Error(`Cannot save the image ${image}: docker ended with ${code}`);
    return bytes;
  });
  return archive;
}

interface Inspected {
  readonly State: { readonly Status: string };
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>> };
}

/**
 * Waits until sshd answers; resolves to the address of the container. Rejects with the end of its log if it exits or
 * the timeout expires.
 */
async function listening(port: number, name: string): Promise<string> {
  const engine = new EngineApi(DOCKER_HOST);
  for (const end = Date.now() + READY_WITHIN; ; await Bun.sleep(POLL_MS)) {
    const answers = await hasBanner(port);
    const { State, NetworkSettings } = await engine.json<Inspected>("GET", `/containers/${name}/json`);
    if (answers) return NetworkSettings.Networks[name]!.IPAddress;
    if (State.Status === "running" && Date.now() < end) continue;
    throw new Error(
      `Cannot start the managed server: its container is ${State.Status}. Its log:\n${await logOf(name)}`,
    );
  }
}

/** Returns whether sshd answers. Docker accepts connections before it does, and closes them. */
function hasBanner(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: "127.0.0.1", port });
  socket
    .setTimeout(BANNER_WITHIN, () => resolve(false))
    .on("data", (data) => resolve(data.toString("latin1").startsWith("SSH-2.0-")))
    .on("error", () => resolve(false))
    .on("close", () => resolve(false));
  return promise.finally(() => socket.destroy());
}

async function logOf(name: string): Promise<string> {
  const command = ["docker", "--host", DOCKER_HOST, "logs", "--tail", `${LOG_LINES}`, name];
  const child = Bun.spawn(command, { stdio: ["ignore", "pipe", "pipe"] });
  return (await Promise.all([child.stdout.text(), child.stderr.text()])).join("");
}

interface ClientOptions {
  readonly input?: Uint8Array | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  readonly engine?: string;
}

/** Runs Docker's client; resolves to its output and rejects with its complaint if it fails. */
async function client(argv: readonly string[], options: ClientOptions = {}): Promise<string> {
  const { input, environment, engine = DOCKER_HOST } = options;
  const child = Bun.spawn(["docker", "--host", engine, ...argv], {
    env: { ...process.env, ...environment },
    stdio: [input ?? "ignore", "pipe", "pipe"],
  });
  const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code === 0) return output;
  throw new Error(`docker ${argv.join(" ")} ended with ${code}: ${errors || output}`.trim());
}
