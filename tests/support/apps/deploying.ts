import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Answer, Call } from "./app.ts";
import { eventually } from "../eventually.ts";
import type { SlipwayProcess } from "../servers/slipway_process.ts";
import { type TarFixture, tarGz } from "../inputs/tar_archive.ts";

/** An event of a deployment's feed. */
export interface SeenEvent {
  readonly seq: number;
  readonly type: string;
  // A test reads events of every type.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [field: string]: any;
}

/** Files by name. */
export type Files = Readonly<Record<string, string>>;

const EXAMPLES = join(import.meta.dir, "../../../examples");
const SETTLED = new Set(["ready", "failed", "cancelled", "partial_failure", "rejected", "superseded"]);

/** A project on a server, as its owner uses it. */
export class TestProject {
  readonly slipway: SlipwayProcess;
  readonly id: string;
  readonly hostname: string;

  private constructor(slipway: SlipwayProcess, id: string, hostname: string) {
    this.slipway = slipway;
    this.id = id;
    this.hostname = hostname;
  }

  static async create(slipway: SlipwayProcess, body: Readonly<Record<string, unknown>>): Promise<TestProject> {
    const made = await slipway.call("POST", "/api/projects", { token: slipway.owner, body });
    if (made.status !== 201) throw new Error(made.text);
    return new TestProject(slipway, made.body.data.id, made.body.data.hostname);
  }

  /** The same project, asked on another server. */
  on(slipway: SlipwayProcess): TestProject {
    return new TestProject(slipway, this.id, this.hostname);
  }

  call(method: string, path: string, call: Call = {}): Promise<Answer> {
    return this.slipway.call(method, path, { token: this.slipway.owner, ...call });
  }

  /** Asks for a deployment and gives its id. */
  async deploy(request: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const made = await this.call("POST", "/api/deployments", { body: { projectId: this.id, ...request } });
    if (made.status !== 202) throw new Error(made.text);
    return made.body.data.deployment_id;
  }

  /** Uploads files, asks for a deployment of them and gives its id. */
  async upload(entries: readonly TarFixture[]): Promise<{ readonly sessionId: string; readonly id: string }> {
    const { sessionId } = (await this.call("POST", "/api/projects/folder/session", { body: {} })).body;
    await this.call("POST", `/api/projects/folder/upload/${sessionId}`, { raw: tarGz(entries) });
    const body = { projectId: this.id, uploadSessionId: sessionId };
    const made = await this.call("POST", "/api/deployments/build/access", { body });
    if (made.status !== 200) throw new Error(made.text);
    return { sessionId, id: made.body.deployment_id };
  }

  /** Does something with a deployment that makes a new one, and gives the new one's id. */
  async again(id: string, what: "promote" | "redeploy" | "rollback", body?: object): Promise<string> {
    const made = await this.call("POST", `/api/deployments/${id}/${what}`, body ? { body } : {});
    if (made.status !== 202) throw new Error(made.text);
    return made.body.deployment_id;
  }

  /** A deployment as it is now. */
  async get(id: string) {
    return (await this.call("GET", `/api/deployments/${id}`)).body.data;
  }

  /** A deployment once nothing more happens to it. */
  async settled(id: string, limitMs = 240_000) {
    return eventually(
      () => this.get(id),
      (deployment) => SETTLED.has(deployment?.status),
      limitMs,
    );
  }

  /** Deploys, and fails with the log when that does not go well. */
  async deployed(id?: string): Promise<string> {
    const which = id ?? (await this.deploy());
    const deployment = await this.settled(which);
    if (deployment.status !== "ready")
      throw new Error(`${JSON.stringify(deployment.error)}\n${await this.log(which)}\n${this.slipway.program.stderr}`);
    return which;
  }

  /** The whole log as text. */
  async log(id: string, kind: "build" | "runtime" = "build"): Promise<string> {
    const { address, owner } = this.slipway;
    const headers = { authorization: `Bearer ${owner}`, accept: "text/plain" };
    return (await fetch(`${address}/api/deployments/${id}/logs?kind=${kind}`, { headers })).text();
  }

  /** What a visitor sees. */
  async page(path = "/"): Promise<string> {
    return (await this.slipway.visit(this.hostname, path)).text();
  }

  /** Follows a deployment's feed from after an event on. */
  events(id: string, since = 0, signal?: AbortSignal): AsyncGenerator<SeenEvent> {
    return this.#follow(`${id}/stream?since=${since}`, signal);
  }

  /** Follows what a deployment prints. */
  output(id: string, since = 0, signal?: AbortSignal): AsyncGenerator<SeenEvent> {
    return this.#follow(`${id}/stream?kind=runtime&since=${since}`, signal);
  }

  async *#follow(path: string, signal?: AbortSignal): AsyncGenerator<SeenEvent> {
    const { address, owner } = this.slipway;
    const answer = await fetch(`${address}/api/deployments/${path}`, {
      headers: { authorization: `Bearer ${owner}` },
      ...(signal && { signal }),
    });
    if (answer.status === 204) return;
    if (answer.status !== 200 || !answer.body) throw new Error(`The feed answers ${answer.status}`);
    yield* eventsOf(answer.body);
  }

  /** Resolves once a deployment has begun a step, or has ended. */
  async reached(id: string, step: string): Promise<void> {
    for await (const event of this.events(id)) if (event.type === "progress" && event["step"] === step) return;
  }
}

/** The events in a stream of server-sent ones. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<SeenEvent> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    const frames = text.split("\n\n");
    text = frames.pop()!;
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}

/** A folder of sources that goes when disposed. */
export class SourceFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async of(files: Files): Promise<SourceFolder> {
    const folder = new SourceFolder(await mkdtemp(join(tmpdir(), "slipway-")));
    await folder.write(files);
    return folder;
  }

  /** A copy of a folder of `examples/`. */
  static async example(name: string): Promise<SourceFolder> {
    const folder = await SourceFolder.of({});
    await cp(join(EXAMPLES, name), folder.path, { recursive: true });
    return folder;
  }

  async write(files: Files): Promise<void> {
    for (const [name, content] of Object.entries(files)) await writeFile(join(this.path, name), content);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
