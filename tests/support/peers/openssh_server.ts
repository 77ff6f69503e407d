import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hostKeyFingerprint } from "../../../domain/projects/deploy_key.ts";
import { eventually } from "../eventually.ts";
import { must, run } from "../runner/command.ts";
import { SSHD } from "../runner/ssh_server_program.ts";
import { RunningProgram } from "../servers/slipway_process.ts";
import { type TestPort, testPort } from "../servers/test_port.ts";
import { TestRepository } from "./git_server.ts";

/** The type of a server's only host key. */
type HostKeyType = "ed25519" | "ecdsa";

/**
 * A real OpenSSH server, an ordinary process of this user, that serves git repositories to authorized keys and nothing
 * else. It can be restarted with another host key on the same port.
 */
export class OpenSshServer implements AsyncDisposable {
  readonly port: number;
  readonly root: string;
  /** Whom clients log in as: the user of this process, because the server can run nothing as another one. */
  readonly #user: string;
  readonly #lifetime: AsyncDisposableStack;
  #program: RunningProgram | undefined;
  /** The output of former processes. */
  #former = "";
  /** Type and base64 of the host key. */
  hostKey = "";

  private constructor(root: string, user: string, { port }: TestPort, lifetime: AsyncDisposableStack) {
    this.#user = user;
    this.root = root;
    this.port = port;
    this.#lifetime = lifetime;
  }

  static async start(hostKeyType: HostKeyType = "ed25519"): Promise<OpenSshServer> {
    await using opened = new AsyncDisposableStack();
    const root = await mkdtemp(join(tmpdir(), "slipway-"));
    opened.defer(() => rm(root, { recursive: true, force: true }));
    const port = opened.use(testPort());
    const user = (await run(["id", "-un"])).lastLine;
    const server = new OpenSshServer(root, user, port, opened.move());
    await server.authorize();
    await server.restart(hostKeyType);
    return server;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  get fingerprint(): string {
    return hostKeyFingerprint(this.hostKey)!;
  }

  /** What it has logged so far: connections, offered keys and logins. */
  get log(): string {
    return this.#former + (this.#program?.stderr ?? "");
  }

  /** The SSH URL of a repository, which need not exist. */
  url(name: string, host = "127.0.0.1"): string {
    return `ssh://${this.#user}@${host}:${this.port}${join(this.root, "bare", `${name}.git`)}`;
  }

  repository(name: string): Promise<TestRepository> {
    return TestRepository.create(join(this.root, "bare", `${name}.git`), join(this.root, "work", name));
  }

  /** Lets exactly these public keys log in, to read and write repositories. */
  async authorize(...publicKeys: readonly string[]): Promise<void> {
    const wait = `while test -e ${join(this.root, "held")}; do sleep 0.02; done`;
    const command = `command="${wait}; exec git-shell -c \\"$SSH_ORIGINAL_COMMAND\\""`;
    await writeFile(
      join(this.root, "authorized_keys"),
      publicKeys.map((key) => `restrict,${command} ${key}\n`).join(""),
    );
  }

  /** Makes clients wait after their login, until disposed. */
  async hold(): Promise<AsyncDisposable> {
    const file = join(this.root, "held");
    await writeFile(file, "");
    return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
  }

  /** Restarts the server with a new host key. */
  async restart(hostKeyType: HostKeyType = "ed25519"): Promise<void> {
    await this.#stop();
    const keyFile = join(this.root, "host_key");
    for (const file of [keyFile, `${keyFile}.pub`]) await rm(file, { force: true });
    await must(["ssh-keygen", "-q", "-t", hostKeyType, "-N", "", "-f", keyFile]);
    this.hostKey = (await Bun.file(`${keyFile}.pub`).text()).split(" ").slice(0, 2).join(" ");
    const file = join(this.root, "sshd_config");
    await writeFile(file, this.#configuration(keyFile));
    // As root, sshd separates privileges in this folder, which the package leaves to the init system.
    if (process.getuid?.() === 0 && !existsSync("/run/sshd"))
      await mkdir("/run/sshd", { recursive: true, mode: 0o755 });
    const program = new RunningProgram([SSHD, "-D", "-e", "-f", file], {});
    this.#program = program;
    await eventually(
      async () => program.ownEnd ?? program.stderr,
      (log) => log.includes("Server listening on"),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    await this.#lifetime.disposeAsync();
  }

  async #stop(): Promise<void> {
    await this.#program?.[Symbol.asyncDispose]();
    this.#former = this.log;
    this.#program = undefined;
  }

  #configuration(keyFile: string): string {
    const settings = {
      Port: this.port,
      ListenAddress: "127.0.0.1",
      HostKey: keyFile,
      PidFile: "none",
      AuthorizedKeysFile: join(this.root, "authorized_keys"),
      StrictModes: "no",
      UsePAM: "no",
      PasswordAuthentication: "no",
      KbdInteractiveAuthentication: "no",
      PermitRootLogin: "prohibit-password",
      AcceptEnv: "GIT_PROTOCOL",
      LogLevel: "VERBOSE",
    };
    return Object.entries(settings)
      .map(([name, value]) => `${name} ${value}\n`)
      .join("");
  }
}
