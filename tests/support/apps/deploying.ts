import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Answer, Call } from "./app.ts";
import { eventually } from "../eventually.ts";
import type { SlipwayProcess } from "../servers/slipway_process.ts";
import { type TarFixture, tarGz } from "../inputs/tar_archive.ts";

/** An event of a deployment's event stream. */
export interface SeenEvent {
  readonly seq: number;
  readonly type: string;
  // Tests read events of every type.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [field: string]: any;
}

/** File contents by name. */
export type Files = Readonly<Record<string, string>>;

const EXAMPLES = join(import.meta.dir, "../../../examples");
const SETTLED_WITHIN_MS = 400_000;
const SETTLED = new Set(["ready", "failed", "cancelled", "partial_failure", "rejected", "superseded"]);

/** A project on a server, used as its owner. */
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

  /** A project that exists. */
  static of(slipway: SlipwayProcess, { id, hostname }: Pick<TestProject, "id" | "hostname">): TestProject {
    return new TestProject(slipway, id, hostname);
  }

  /** The same project through another server. */
  on(slipway: SlipwayProcess): TestProject {
    return new TestProject(slipway, this.id, this.hostname);
  }

  call(method: string, path: string, call: Call = {}): Promise<Answer> {
    return this.slipway.call(method, path, { token: this.slipway.owner, ...call });
  }

  /** Requests a deployment and returns its id. */
  async deploy(request: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const made = await this.call("POST", "/api/deployments", { body: { projectId: this.id, ...request } });
    if (made.status !== 202) throw new Error(made.text);
    return made.body.data.deployment_id;
  }

  /** Uploads files, requests a deployment of them and returns its id. */
  async upload(entries: readonly TarFixture[]): Promise<{ readonly sessionId: string; readonly id: string }> {
    const { sessionId } = (await this.call("POST", "/api/projects/folder/session", { body: {} })).body;
    await this.call("POST", `/api/projects/folder/upload/${sessionId}`, { raw: tarGz(entries) });
    const body = { projectId: this.id, uploadSessionId: sessionId };
    const made = await this.call("POST", "/api/deployments/build/access", { body });
    if (made.status !== 200) throw new Error(made.text);
    return { sessionId, id: made.body.deployment_id };
  }

  /** Promotes, redeploys or rolls back a deployment, and returns the id of the new one. */
  async again(id: string, what: "promote" | "redeploy" | "rollback", body?: object): Promise<string> {
    const made = await this.call("POST", `/api/deployments/${id}/${what}`, body ? { body } : {});
    if (made.status !== 202) throw new Error(made.text);
    return made.body.deployment_id;
  }

  /** The current state of a deployment. */
  async get(id: string) {
    return (await this.call("GET", `/api/deployments/${id}`)).body.data;
  }

  /** Waits until a deployment has settled, and returns it. */
  async settled(id: string) {
    return eventually(
      () => this.get(id),
      (deployment) => SETTLED.has(deployment?.status),
      SETTLED_WITHIN_MS,
    );
  }

  /** Deploys, or waits for the given deployment. Throws with its log unless it becomes ready. */
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
    return (await fetch(`${address}/api/deployments/${id}/logs?kind=${kind}`, { headers, keepalive: false })).text();
  }

  /** The body that a visitor gets. */
  async page(path = "/"): Promise<string> {
    return (await this.slipway.visit(this.hostname, path)).text();
  }

  /** Follows a deployment's event stream after the event `since`. */
  events(id: string, since = 0, signal?: AbortSignal): AsyncGenerator<SeenEvent> {
    return this.#follow(`${id}/stream?since=${since}`, signal);
  }

  /** Follows the runtime output of a deployment. */
  output(id: string, since = 0, signal?: AbortSignal): AsyncGenerator<SeenEvent> {
    return this.#follow(`${id}/stream?kind=runtime&since=${since}`, signal);
  }

  async *#follow(path: string, signal?: AbortSignal): AsyncGenerator<SeenEvent> {
    const { address, owner } = this.slipway;
    const answer = await fetch(`${address}/api/deployments/${path}`, {
      headers: { authorization: `Bearer ${owner}` },
      keepalive: false,
      ...(signal && { signal }),
    });
    if (answer.status === 204) return;
    if (answer.status !== 200 || !answer.body) throw new Error(`The feed answered ${answer.status}`);
    yield* eventsOf(answer.body);
  }

  /** Resolves once a deployment has started a step or its event stream has ended. */
  async reached(id: string, step: string): Promise<void> {
    for await (const event of this.events(id)) if (event.type === "progress" && event["step"] === step) return;
  }
}

/** Parses a stream of server-sent events. */
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

/** A temporary source folder, removed on disposal. */
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
