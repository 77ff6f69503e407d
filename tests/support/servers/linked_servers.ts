import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestProject } from "../apps/deploying.ts";
import { testDatabase } from "../database/test_database.ts";
import { file, tarGz } from "../inputs/tar_archive.ts";
import { GitServer } from "../peers/git_server.ts";
import { CloudWire } from "./cloud_wire.ts";
import { SlipwayProcess } from "./slipway_process.ts";

type Files = Readonly<Record<string, string>>;
type Body = Readonly<Record<string, unknown>>;

/** A public address, because the cloud clones from no other. Nothing is sent there. */
const PUBLIC = "https://1.2.3.4/";

/** A project that was promoted, as the self-hosted server and the cloud have it, and a deployment of it. */
export interface Promoted {
  readonly here: TestProject;
  readonly there: TestProject;
  readonly id: string;
}

/** A request about a deployment. */
export interface Asked {
  readonly of: Pick<Promoted, "id">;
  /** What follows the id of the deployment. */
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Headers about one connection. */
const OWN_HEADERS = new Set(["connection", "content-length", "date", "keep-alive", "transfer-encoding"]);

/** Returns the headers that say something about an answer itself. */
export function toldHeaders(headers: Headers): Readonly<Record<string, string>> {
  return Object.fromEntries([...headers].filter(([name]) => !OWN_HEADERS.has(name)));
}

/** A self-hosted server and the hosted cloud that it is linked to: two processes, each with its own database. */
export class LinkedServers implements AsyncDisposable {
  readonly home: SlipwayProcess;
  readonly cloud: SlipwayProcess;
  readonly wire: CloudWire;
  readonly git: GitServer;
  readonly linkToken: string;
  /** The answers to all that was asked with `ask()`. */
  readonly answers: string[] = [];
  readonly #lifetime: AsyncDisposableStack;
  #earlierLogs = "";

  private constructor(
    parts: Pick<LinkedServers, "home" | "cloud" | "wire" | "git" | "linkToken">,
    lifetime: AsyncDisposableStack,
  ) {
    this.home = parts.home;
    this.cloud = parts.cloud;
    this.wire = parts.wire;
    this.git = parts.git;
    this.linkToken = parts.linkToken;
    this.#lifetime = lifetime;
  }

  static async start(): Promise<LinkedServers> {
    await using opened = new AsyncDisposableStack();
    const git = opened.use(await GitServer.start());
    const [databaseHere, databaseThere] = [opened.use(await testDatabase()), opened.use(await testDatabase())];
    const PATH = `${await gitProgram(git, opened)}:${process.env["PATH"]}`;
    const [home, cloud] = await Promise.all([
      SlipwayProcess.start({ DATABASE_URL: databaseHere.url }).then((server) => opened.use(server)),
      SlipwayProcess.start({ DATABASE_URL: databaseThere.url, SLIPWAY_MODE: "cloud", PATH }).then((server) =>
        opened.use(server),
      ),
    ]);
    const wire = opened.use(await CloudWire.to(cloud.port));
    const body = { name: "link", link: true };
    const made = await cloud.call("POST", "/api/tokens", { token: cloud.owner, body });
    if (made.status !== 201) throw new Error(made.text);
    const linkToken = made.body.data.token as string;
    const link = { url: wire.address, token: linkToken };
    const linked = await home.call("PUT", "/api/cloud/link", { token: home.owner, body: link });
    if (linked.status !== 200) throw new Error(linked.text);
    return new LinkedServers({ home, cloud, wire, git, linkToken }, opened.move());
  }

  /** Everything that both servers have printed. */
  get logs(): string {
    const programs = [this.home.program, this.cloud.program];
    return this.#earlierLogs + programs.map(({ stdout, stderr }) => stdout + stderr).join("\n");
  }

  /** Sends a request about a deployment, as an owner unless its headers say otherwise. */
  async send(method: string, asked: Asked, where: "home" | "cloud" = "home"): Promise<Response> {
    const { address, owner } = this[where];
    const { of, path, body, headers, signal } = asked;
    return fetch(`${address}/api/deployments/${of.id}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${owner}`,
        "x-request-id": "the-same-request",
        ...(body && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      keepalive: false,
    });
  }

  /** Sends a request about a deployment; resolves to the whole answer, with one character per byte (latin1). */
  async ask(method: string, asked: Asked, where: "home" | "cloud" = "home") {
    const response = await this.send(method, asked, where);
    const text = Buffer.from(await response.arrayBuffer()).toString("latin1");
    this.answers.push(text, JSON.stringify([...response.headers]));
    return { status: response.status, headers: toldHeaders(response.headers), body: text };
  }

  /** Kills the cloud. */
  async killCloud(): Promise<void> {
    const { program } = this.cloud;
    await this.cloud.kill();
    const { stdout, stderr } = await program.ended;
    this.#earlierLogs += stdout + stderr;
  }

  /** Commits files to a new repository and returns its address, which is a public one. */
  async repository(name: string, files: Files): Promise<string> {
    await (await this.git.repository(name)).commit(files);
    return `${PUBLIC}${name}.git`;
  }

  /** Creates a project here. */
  async project(body: Body = {}): Promise<TestProject> {
    return TestProject.create(this.home, { name: `shop ${crypto.randomUUID().slice(0, 8)}`, ...body });
  }

  /** Uploads a folder here, for the cloud, and returns the id of its session. */
  async upload(files: Files): Promise<string> {
    const { call, owner: token } = this.home;
    const { sessionId } = (await call("POST", "/api/projects/folder/session", { token, body: { mode: "cloud" } })).body;
    const raw = tarGz(Object.entries(files).map(([name, content]) => file(name, content)));
    const sent = await call("POST", `/api/projects/folder/upload/${sessionId}`, { token, raw });
    if (sent.status !== 200) throw new Error(sent.text);
    return sessionId;
  }

  /** Makes a token here with some permissions. */
  async tokenWith(permissions: readonly string[]): Promise<{ readonly id: string; readonly token: string }> {
    const { call, owner } = this.home;
    const made = await call("POST", "/api/tokens", { token: owner, body: { name: "some", permissions } });
    if (made.status !== 201) throw new Error(made.text);
    return made.body.data;
  }

  /** Promotes a project with an uploaded folder. */
  async promoted(files: Files, { settings = {}, request = {} }: Record<string, Body> = {}): Promise<Promoted> {
    const here = await this.project(settings);
    return this.deployed(here, { uploadSessionId: await this.upload(files), ...request });
  }

  /** Deploys a project to the cloud. */
  async deployed(here: TestProject, request: Body): Promise<Promoted> {
    const body = { projectId: here.id, ...request };
    const answer = await here.call("POST", "/api/deployments/build/access", { body });
    if (answer.status !== 200) throw new Error(answer.text);
    const there = here.on(this.cloud);
    return { here, there, id: answer.body.deployment_id };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lifetime.disposeAsync();
  }
}

/** Writes a `git` that finds the repositories of a local server at the public address, and returns its folder. */
async function gitProgram({ port }: GitServer, opened: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const instead = `url.http://127.0.0.1:${port}/.insteadOf=${PUBLIC}`;
  const script = `#!/bin/sh\nGIT_ALLOW_PROTOCOL=http exec ${Bun.which("git")} -c ${instead} "$@"\n`;
  await writeFile(join(folder, "git"), script);
  await chmod(join(folder, "git"), 0o755);
  return folder;
}
