import { randomBytes } from "node:crypto";
import { GenericContainer, Wait } from "testcontainers";
import { Secret } from "../../../domain/secret.ts";
import type { RemoteTarget } from "../../../ports/servers/remote_hosts.ts";
import { run } from "../runner/command.ts";
import { keyPair } from "../inputs/key_pair.ts";
import { TEST_LABEL } from "../runner/test_leftovers.ts";

/** A real OpenSSH server in a container, with users that log in in different ways. */
export interface SshdContainer extends AsyncDisposable {
  /** By password. */
  readonly alice: RemoteTarget;
  /** By key. */
  readonly bob: RemoteTarget;
  /** By key with a passphrase; the same account as bob. */
  readonly protectedBob: RemoteTarget;
  /** By a password that the server prompts for (keyboard-interactive). */
  readonly carol: RemoteTarget;
  /** By key; the login shell is dash. */
  readonly dora: RemoteTarget;
  /** By key; the login shell is fish. */
  readonly erin: RemoteTarget;
  /** By both key and password. */
  readonly frank: RemoteTarget;
  /** By password, SFTP only: no shell, chrooted to `/srv/jail`, writable only in `upload`. */
  readonly gina: RemoteTarget;
  /** Suspends and resumes the whole container, as if the machine hung. */
  pause(): Promise<void>;
  unpause(): Promise<void>;
  /** Runs a program in the container and returns its output. */
  exec(argv: string[]): Promise<string>;
}

/** Builds the image if it does not exist, and starts a server from it. Disposal removes the container. */
export async function startSshd({ tmpfs = {} }: { tmpfs?: Record<string, string> } = {}): Promise<SshdContainer> {
  process.env["TESTCONTAINERS_RYUK_DISABLED"] = "true";
  const [plain, locked] = [keyPair(), keyPair("open sesame")];
  const password = randomBytes(12).toString("base64url");
  const context = new URL("../../images/sshd", import.meta.url).pathname;
  const image = await GenericContainer.fromDockerfile(context).build("slipway-test-sshd:latest", {
    deleteOnExit: false,
  });
  // A separate network, whose bridge keeps its MAC address. The shared bridge takes the address of one of its
  // containers; when that one is removed, packets of this server get lost for seconds.
  await using undo = new AsyncDisposableStack();
  const network = `slipway-sshd-${randomBytes(6).toString("hex")}`;
  const created = await run(["docker", "network", "create", "--label", `${TEST_LABEL}=1`, network]);
  if (!created.ok) throw new Error(`Cannot create the network of sshd: ${created.lastLine}`);
  undo.defer(async () => void (await run(["docker", "network", "rm", network])));
  const container = await image
    .withNetworkMode(network)
    .withLabels({ [TEST_LABEL]: "1" })
    .withEnvironment({ PASSWORD: password, AUTHORIZED_KEYS: `${plain.public}\n${locked.public}` })
    .withExposedPorts(22)
    .withTmpFs(tmpfs)
    .withWaitStrategy(Wait.forLogMessage(/Server listening on/))
    .start();
  undo.defer(async () => void (await container.stop({ remove: true, removeVolumes: true })));
  const at = { host: container.getHost(), port: container.getMappedPort(22) };
  const privateKey = new Secret(plain.private);
  const docker = async (action: "pause" | "unpause") => {
    await Bun.spawn(["docker", action, container.getId()], { stdout: "ignore" }).exited;
  };
  const made = undo.move();
  return {
    alice: { ...at, user: "alice", password: new Secret(password) },
    bob: { ...at, user: "bob", privateKey },
    protectedBob: {
      ...at,
      user: "bob",
      privateKey: new Secret(locked.private),
      keyPassphrase: new Secret("open sesame"),
    },
    carol: { ...at, user: "carol", password: new Secret(password) },
    dora: { ...at, user: "dora", privateKey },
    erin: { ...at, user: "erin", privateKey },
    frank: { ...at, user: "frank", privateKey, password: new Secret(password) },
    gina: { ...at, user: "gina", password: new Secret(password) },
    pause: () => docker("pause"),
    unpause: () => docker("unpause"),
    async exec(argv) {
      const { output, exitCode } = await container.exec(argv);
      if (exitCode !== 0) throw new Error(`${argv[0]} ended with ${exitCode}: ${output}`);
      return output;
    },
    async [Symbol.asyncDispose]() {
      await made.disposeAsync();
    },
  };
}
