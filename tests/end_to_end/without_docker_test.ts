import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SeenEvent, SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { NO_ENGINE, RunningProgram, SlipwayProcess, temporaryPlace } from "../support/servers/slipway_process.ts";
import { testPort } from "../support/servers/test_port.ts";

const ROOT = join(import.meta.dir, "../..");

const PYTHON = `
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(("Python says " + os.environ["WORD"]).encode())
    def log_message(self, *words): pass
print("listening", flush=True)
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
`;

/** A fake engine socket that counts connections. */
class CountingEngine implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "slipway-"));
  readonly #server: Server;
  connections = 0;

  private constructor() {
    this.#server = createServer((socket) => {
      this.connections++;
      socket.destroy();
    });
  }

  static async start(): Promise<CountingEngine> {
    const engine = new CountingEngine();
    await new Promise<void>((resolve) => engine.#server.listen(join(engine.#folder, "docker.sock"), resolve));
    return engine;
  }

  get host(): string {
    return `unix://${join(this.#folder, "docker.sock")}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

test("the README's tour works from bin/up on, without warnings", async () => {
  await using place = await temporaryPlace();
  using port = testPort();
  using edgePort = testPort();
  const settings = {
    DOCKER_HOST: NO_ENGINE,
    SLIPWAY_DATA: place.data,
    PORT: `${port.port}`,
    EDGE_PORT: `${edgePort.port}`,
    EDGE_TLS_PORT: "0",
    LOG_LEVEL: "warn",
  };
  await using program = new RunningProgram([join(ROOT, "bin/up")], settings);
  const [, token] = await program.printed(/^ {2}Token {2}(slp_\S+)$/m);
  await program.printed(/^Next, in another terminal/m);
  expect(program.stdout).toContain("Runs   as sandboxed processes of this machine");
  const api = async (method: string, path: string, body?: object | Uint8Array) => {
    const isRaw = body instanceof Uint8Array;
    const answer = await fetch(`http://127.0.0.1:${port.port}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && !isRaw && { "content-type": "application/json" }),
      },
      ...(body && { body: isRaw ? body : JSON.stringify(body) }),
    });
    // Each route has its own response shape.
    // oxlint-disable-next-line typescript/no-explicit-any
    return (await answer.json()) as any;
  };
  const visit = async () =>
    (await fetch(`http://127.0.0.1:${edgePort.port}/`, { headers: { host: "harbour.localhost" } })).text();
  const uploaded = async (projectId: string, folder: string): Promise<string> => {
    const { sessionId } = await api("POST", "/api/projects/folder/session", {});
    const tar = Bun.spawn(["tar", "-C", folder, "-czf", "-", "."], { stdout: "pipe" });
    await api("POST", `/api/projects/folder/upload/${sessionId}`, await tar.stdout.bytes());
    const body = { projectId, uploadSessionId: sessionId };
    return (await api("POST", "/api/deployments/build/access", body)).deployment_id;
  };
  const ready = (id: string) =>
    eventually(
      async () => (await api("GET", `/api/deployments/${id}`)).data,
      ({ status }) => !["queued", "building", "deploying"].includes(status),
    );

  expect(await api("GET", "/api/health")).toMatchObject({ status: "ok" });
  const project = (await api("POST", "/api/projects", { name: "Harbour" })).data;
  await api("PATCH", `/api/projects/${project.id}/env`, { upserts: [{ key: "COLOR", value: "blue" }] });
  const first = await uploaded(project.id, join(ROOT, "examples/bun-server"));
  expect(await ready(first)).toMatchObject({ status: "ready", error: null });
  expect(await visit()).toBe("Hello from Slipway, blue\n");

  await using changed = await SourceFolder.example("bun-server");
  const text = await Bun.file(join(changed.path, "server.ts")).text();
  await changed.write({ "server.ts": text.replace("Hello", "Ahoy") });
  expect(await ready(await uploaded(project.id, changed.path))).toMatchObject({ status: "ready", error: null });
  expect(await visit()).toBe("Ahoy from Slipway, blue\n");

  const back = await api("POST", `/api/deployments/${first}/rollback`);
  expect(await ready(back.deployment_id)).toMatchObject({ status: "ready", error: null, rollbackOf: first });
  expect(await visit()).toBe("Hello from Slipway, blue\n");

  program.signal("SIGTERM");
  expect(await program.ended).toMatchObject({ code: 0, stderr: "" });
});

describe("on a machine without Docker", () => {
  let slipway: SlipwayProcess;
  beforeAll(async () => {
    slipway = await SlipwayProcess.start({ LOG_LEVEL: "warn" });
  });
  afterAll(() => slipway?.[Symbol.asyncDispose]());

  test.concurrent("every route of a deployment of a program answers as documented", async () => {
    await using source = await SourceFolder.of({ "server.py": PYTHON });
    const project = await TestProject.create(slipway, {
      name: "python",
      localPath: source.path,
      startCommand: "python3 server.py",
    });
    const body = { upserts: [{ key: "WORD", value: "hello" }] };
    await project.call("PATCH", `/api/projects/${project.id}/env`, { body });
    const prepared = await project.call("POST", "/api/deployments/prepare", {
      body: { source: "local", path: source.path },
    });
    expect(prepared.status).toBe(200);
    const first = await project.deployed();
    expect(await project.page()).toBe("Python says hello");
    const at = (path: string) => `/api/deployments/${first}${path}`;
    expect((await project.call("GET", `/api/deployments?projectId=${project.id}`)).body.total).toBe(1);
    expect((await project.call("GET", at("/build"))).body.data).toMatchObject({ status: "ready", percent: 100 });
    expect((await project.call("GET", at("/logs"))).body.data.length).toBeGreaterThan(0);
    expect(await project.log(first, "runtime")).toContain("listening");
    const events: SeenEvent[] = [];
    for await (const event of project.events(first)) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: "end", status: "ready" });
    const info = (await project.call("GET", at("/info"))).body.data;
    expect(info).toMatchObject({ runtime: "process", services: [{ name: "app", status: "running" }] });
    expect((await project.call("GET", at("/usage"))).body.data.memoryBytes).toBeGreaterThan(0);
    expect((await project.call("POST", at("/restart"))).status).toBe(200);
    await eventually(
      () => project.page(),
      (page) => page === "Python says hello",
    );
    expect((await project.call("POST", at("/pin"), { body: {} })).body.data.pinned).toBe(true);
    for (const path of ["/keep", "/reject", "/cancel"]) expect((await project.call("POST", at(path))).status).toBe(400);
    const second = await project.deployed(await project.again(first, "redeploy", {}));
    const back = await project.deployed(await project.again(first, "rollback"));
    expect(await project.get(back)).toMatchObject({ active: true, rollbackOf: first });
    const held = (await project.call("POST", "/api/deployments/build/access", {
      body: { projectId: project.id, start: false },
    })) as { body: { deployment_id: string } };
    expect((await project.call("POST", `/api/deployments/${held.body.deployment_id}/build`)).status).toBe(202);
    await project.deployed(held.body.deployment_id);
    expect((await project.call("DELETE", `/api/deployments/${second}`)).status).toBe(200);
    expect((await project.call("GET", `/api/deployments/${second}`)).status).toBe(404);
  });

  test.concurrent("a static site is changed and rolled back, and its project deleted with everything it had", async () => {
    await using source = await SourceFolder.of({ "index.html": "one" });
    const project = await TestProject.create(slipway, { name: "plain site", localPath: source.path });
    const first = await project.deployed();
    await source.write({ "index.html": "two" });
    await project.deployed();
    expect(await project.page()).toBe("two");
    const back = await project.deployed(await project.again(first, "rollback"));
    expect(await project.page()).toBe("one");
    expect((await project.call("DELETE", `/api/projects/${project.id}`)).status).toBe(200);
    await eventually(
      async () => (await slipway.visit(project.hostname)).status,
      (status) => status === 404,
    );
    await eventually(
      async () => readdirSync(join(slipway.folder, "releases")).filter((name) => [first, back].includes(name)),
      (left) => left.length === 0,
    );
  });

  test.concurrent("what needs Docker fails with what to install, and causes a warning before", async () => {
    await using source = await SourceFolder.of({ Dockerfile: "FROM scratch\n" });
    const sentence = /^Cannot deploy this without Docker: .* Install Docker and start it/;
    const prepared = await slipway.call("POST", "/api/deployments/prepare", {
      token: slipway.owner,
      body: { source: "local", path: source.path },
    });
    expect(prepared.body.data.warnings[0]).toMatch(sentence);
    const project = await TestProject.create(slipway, { name: "boxed", localPath: source.path });
    const failed = await project.settled(await project.deploy());
    expect(failed).toMatchObject({ status: "failed", error: { code: "engine_away", step: "detect" } });
    expect(failed.error.message).toMatch(sentence);
  });
});

test("a server of processes sends no request to an engine, not even after a kill", async () => {
  await using engine = await CountingEngine.start();
  await using slipway = await SlipwayProcess.start({
    DOCKER_HOST: engine.host,
    SLIPWAY_RUNTIME: "process",
    LOG_LEVEL: "warn",
  });
  await using source = await SourceFolder.example("bun-server");
  const project = await TestProject.create(slipway, { name: "alone", localPath: source.path });
  const first = await project.deployed();
  const second = await project.deployed(await project.again(first, "redeploy", {}));
  await slipway.kill();
  await slipway.start();
  await eventually(
    () => project.page(),
    (page) => page.startsWith("Hello"),
  );
  const third = await project.deployed(await project.again(first, "rollback"));
  await project.call("POST", `/api/deployments/${third}/restart`);
  await project.call("GET", `/api/deployments/${third}/info`);
  await project.call("DELETE", `/api/deployments/${second}`);
  await project.call("DELETE", `/api/projects/${project.id}`);
  await eventually(
    async () => existsSync(join(slipway.folder, "releases", first)),
    (isThere) => !isThere,
  );
  expect(engine.connections).toBe(0);
  expect(slipway.program.stderr).toBe("");
});
