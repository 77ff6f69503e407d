import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readNote } from "../../../adapters/edge/separate/edge_note.ts";
import { processesOn } from "../../../adapters/embedded_postgres/leftover_processes.ts";
import { copyEmptyCluster } from "../runner/empty_cluster.ts";
import { eventually } from "../eventually.ts";
import { httpClient } from "./http_client.ts";
import { testPort } from "./test_port.ts";

export type Settings = Readonly<Record<string, string>>;

/** The outcome of a program. */
export interface ProgramOutcome {
  readonly code: number | null;
  readonly signal: string | number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A data folder that does not exist yet, in a temporary folder that is removed on disposal. */
export interface TemporaryPlace extends AsyncDisposable {
  readonly parent: string;
  readonly data: string;
}

/** A container engine address where none listens. */
export const NO_ENGINE = "unix:///nonexistent/docker.sock";

const ROOT = join(import.meta.dir, "../../..");
/** The server as `bin/up` starts it, compiled; outside `bin/test` its sources, which may be newer. */
const PROGRAM = process.env["SLIPWAY_TEST_PROGRAM"] ?? join(ROOT, "main.ts");
const READY = /^Next, in another terminal.*\n.*\n/m;

/** A program of this repository that gets only the given settings as its environment and dies with this process. */
export class RunningProgram implements AsyncDisposable {
  readonly #child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  readonly #read: Promise<unknown>;
  /** Whether a test has stopped it. */
  #isEnded = false;
  stdout = "";
  stderr = "";

  constructor(command: readonly string[], settings: Settings, cwd: string = tmpdir()) {
    const { PATH = "", HOME = "" } = process.env;
    const tied = Bun.which("setpriv") ? ["setpriv", "--pdeathsig=KILL", "--"] : [];
    this.#child = Bun.spawn([...tied, ...command], {
      cwd,
      env: { PATH, HOME, ...settings },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#read = Promise.all([
      this.#follow(this.#child.stdout, (text) => (this.stdout += text)),
      this.#follow(this.#child.stderr, (text) => (this.stderr += text)),
    ]);
  }

  /** How it ended without being stopped by a test, with the end of its stderr. */
  get ownEnd(): string | undefined {
    const how = this.#child.signalCode ?? this.#child.exitCode;
    if (this.#isEnded || how === null) return undefined;
    return `The server exited by itself (${how}):\n${this.stderr.slice(-4_000)}`;
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Resolves when the program has exited and all of its output has been read. */
  get ended(): Promise<ProgramOutcome> {
    return Promise.all([this.#child.exited, this.#read]).then(() => ({
      code: this.#child.exitCode,
      signal: this.#child.signalCode,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  signal(name: NodeJS.Signals): void {
    this.#isEnded = true;
    this.#child.kill(name);
  }

  /** Resolves once its stdout matches a pattern; rejects if it exits before. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.stdout);
      if (match) return match;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        const { code, signal, stdout, stderr } = await this.ended;
        const late = pattern.exec(stdout);
        if (late) return late;
        throw new Error(`The program exited (${signal ?? code}) before it printed ${pattern}:\n${stdout}${stderr}`);
      }
      await Bun.sleep(5);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    this.#child.kill("SIGKILL");
    await this.#child.exited;
  }

  async #follow(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
  }
}

/** A server of this repository on its own ports and data folder. Disposal kills it and removes the folder. */
export class SlipwayProcess implements AsyncDisposable {
  readonly folder: string;
  readonly port: number;
  /** The port on which it serves deployed apps. */
  readonly edgePort: number;
  /** The port on which it serves deployed apps over TLS. */
  readonly edgeTlsPort: number;
  readonly #settings: Settings;
  readonly #lifetime: AsyncDisposableStack;
  #program: RunningProgram | undefined;
  #token: string | undefined;

  private constructor(
    place: Pick<SlipwayProcess, "folder" | "port" | "edgePort" | "edgeTlsPort" | "settings">,
    lifetime: AsyncDisposableStack,
  ) {
    this.folder = place.folder;
    this.port = place.port;
    this.edgePort = place.edgePort;
    this.edgeTlsPort = place.edgeTlsPort;
    this.#settings = place.settings;
    this.#lifetime = lifetime;
  }

  /** Starts a server and waits until it is up. `SLIPWAY_DATA` names a folder to share, which is not removed. */
  static async start(settings: Settings = {}): Promise<SlipwayProcess> {
    const slipway = await SlipwayProcess.prepare(settings);
    try {
      await slipway.start();
    } catch (error) {
      await slipway[Symbol.asyncDispose]();
      throw error;
    }
    return slipway;
  }

  /** Chooses ports and a folder without starting the server. */
  static async prepare(settings: Settings = {}): Promise<SlipwayProcess> {
    const lifetime = new AsyncDisposableStack();
    const folder = settings["SLIPWAY_DATA"] ?? lifetime.use(await temporaryPlace()).data;
    if (!("SLIPWAY_DATA" in settings || "DATABASE_URL" in settings)) await copyEmptyCluster(folder);
    const ownPort = () => lifetime.use(testPort()).port;
    const ports = { port: ownPort(), edgePort: ownPort(), edgeTlsPort: ownPort() };
    return new SlipwayProcess({ folder, settings, ...ports }, lifetime);
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The settings that it starts with. */
  get settings(): Settings {
    // Tests that do not name a container engine get none, whatever the machine has; and none asks Let's Encrypt.
    return {
      PORT: String(this.port),
      EDGE_PORT: String(this.edgePort),
      EDGE_TLS_PORT: String(this.edgeTlsPort),
      ACME_DIRECTORY_URL: "off",
      DOCKER_HOST: NO_ENGINE,
      PROBATION_SECONDS: "0.3",
      SLIPWAY_DATA: this.folder,
      ...this.#settings,
    };
  }

  get program(): RunningProgram {
    if (!this.#program) throw new Error("Cannot use the server: it was never started");
    return this.#program;
  }

  /** The owner's token: the configured one, else the last one printed. */
  get owner(): string {
    const token = this.#settings["SLIPWAY_ADMIN_TOKEN"] ?? this.#token;
    if (token === undefined) throw new Error("Cannot read the owner's token: none was printed");
    return token;
  }

  /** Sends an API request over HTTP and validates the response against the schema its route declares. */
  get call() {
    return httpClient(this.address, () => this.#program?.ownEnd);
  }

  /** Starts it on the same port and folder and waits until it is up. */
  async start(changed: Settings = {}): Promise<void> {
    await this.launch(changed).printed(READY);
    this.#token = printedToken(this.program.stdout) ?? this.#token;
  }

  /** Starts it without waiting. */
  launch(changed: Settings = {}): RunningProgram {
    this.#program = new RunningProgram([process.execPath, PROGRAM], { ...this.settings, ...changed });
    return this.#program;
  }

  /** Sends it a signal and waits until it has exited. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<ProgramOutcome> {
    this.program.signal(signal);
    return this.program.ended;
  }

  /** Sends a request to the edge as a visitor of this host, on a new connection unless told otherwise. */
  visit(hostname: string, path = "/", init: RequestInit = {}): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string>), host: hostname };
    return fetch(`http://127.0.0.1:${this.edgePort}${path}`, {
      keepalive: false,
      ...init,
      headers,
      redirect: "manual",
    });
  }

  /** Kills it at once and waits until its embedded PostgreSQL has stopped by itself. */
  async kill(): Promise<void> {
    await this.#program?.[Symbol.asyncDispose]();
    await noneOn(this.folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.#lifetime.disposeAsync();
  }
}

/** The token that a start has printed. */
export function printedToken(stdout: string): string | undefined {
  return /^ {2}Token {2}(\S+)$/m.exec(stdout)?.[1];
}

/** Starts a server that is expected to exit by itself, and returns its outcome. */
export async function slipwayOutcome(settings: Settings): Promise<ProgramOutcome> {
  await using program = new RunningProgram([process.execPath, PROGRAM], { PORT: "0", ...settings });
  return await program.ended;
}

/** Starts `bin/slipway` with these arguments. */
export function commandLine(words: readonly string[], settings: Settings = {}): RunningProgram {
  return new RunningProgram([join(ROOT, "bin/slipway"), ...words], settings);
}

/** Runs `bin/slipway` with these arguments to its end. */
export async function commandOutcome(words: readonly string[], settings: Settings = {}): Promise<ProgramOutcome> {
  await using program = commandLine(words, settings);
  return await program.ended;
}

/** Creates a temporary place for a data folder. */
export async function temporaryPlace(): Promise<TemporaryPlace> {
  const parent = await mkdtemp(join(tmpdir(), "slipway-"));
  const data = join(parent, "data");
  return {
    parent,
    data,
    async [Symbol.asyncDispose]() {
      await noneOn(data);
      endInstances(data);
      endEdges(join(data, "edge"));
      await rm(parent, { recursive: true, force: true });
    },
  };
}

/** Kills the deployed apps of a data folder, which outlive their server. */
function endInstances(folder: string): void {
  const instances = join(folder, "instances");
  for (const name of existsSync(instances) ? readdirSync(instances) : []) {
    try {
      const pid = parseInt(readFileSync(join(instances, name, "run"), "utf8"), 10);
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("slipway-launcher")) process.kill(pid, "SIGKILL");
    } catch {
      // It has no process, or that has exited.
    }
  }
}

/** Kills the edges, which outlive their server. */
function endEdges(folder: string): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const pid = name.endsWith(".json") ? readNote(join(folder, name))?.pid : undefined;
    try {
      if (pid && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("wiring/edge_process.ts"))
        process.kill(pid, "SIGKILL");
    } catch {
      // It has exited.
    }
  }
}

/** The process ids of a data folder's embedded PostgreSQL. */
export async function postgresOn(folder: string): Promise<readonly number[]> {
  const clusters = ["postgres", "postgres.part"].map((name) => join(folder, name)).filter((path) => existsSync(path));
  return (await Promise.all(clusters.map(processesOn))).flat();
}

async function noneOn(folder: string): Promise<void> {
  await eventually(
    () => postgresOn(folder),
    (pids) => pids.length === 0,
  );
}
