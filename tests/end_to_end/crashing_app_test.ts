import { expect, setDefaultTimeout, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { SourceFolder, TestProject } from "../support/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { SlipwayProcess } from "../support/slipway_process.ts";
import { Visitor } from "../support/visitor.ts";

setDefaultTimeout(180_000);

const STEADY = { "server.js": 'Bun.serve({ port: process.env.PORT, fetch: () => new Response("v1") });' };

/** Ends as soon as what it needs is not there. */
function needyApp(port: number) {
  return {
    "server.js": `
      import { connect } from "node:net";
      const needed = connect(${port}, "127.0.0.1");
      for (const event of ["error", "close"]) needed.on(event, () => (console.error("no database"), process.exit(1)));
      needed.on("connect", () => Bun.serve({ port: process.env.PORT, fetch: () => new Response("v1") }));
    `,
  };
}

/** Something on a port that apps need; it can be taken away and brought back. */
class NeededServer implements AsyncDisposable {
  readonly port: number;
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start(): Promise<NeededServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const started = new NeededServer(server, (server.address() as { port: number }).port);
    started.#follow(server);
    return started;
  }

  async goAway(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const socket of this.#sockets) socket.destroy();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  async comeBack(): Promise<void> {
    const server = createServer();
    this.#follow(server);
    await new Promise<void>((resolve) => server.listen(this.port, "127.0.0.1", resolve));
    this.#server = server;
  }

  #follow(server: Server): void {
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.goAway();
  }
}

test("an app that loses what it needs comes back by itself, and holds up neither its server nor another app", async () => {
  await using database = await NeededServer.start();
  await using slipway = await SlipwayProcess.start();
  await using steadySource = await SourceFolder.of(STEADY);
  await using needySource = await SourceFolder.of(needyApp(database.port));
  const settings = { startCommand: "bun server.js" };
  const steady = await TestProject.create(slipway, { name: "steady", localPath: steadySource.path, ...settings });
  const needy = await TestProject.create(slipway, { name: "needy", localPath: needySource.path, ...settings });
  await steady.deployed();
  const id = await needy.deployed();
  const visitor = new Visitor(slipway, steady.hostname);
  const shown = async () => (await needy.call("GET", `/api/deployments/${id}/info`)).body.data.services[0];

  await database.goAway();
  await eventually(shown, ({ restarts, status }) => restarts >= 5 && status === "restarting");
  const refused = await needy.call("POST", `/api/deployments/${id}/restart`);
  expect([refused.status, refused.body.code]).toEqual([400, "restart_failed"]);
  expect(refused.body.error).toContain("it ended with code 1");

  visitor.pause();
  await slipway.kill();
  await slipway.start();
  // The first answers, while the other still ends again and again.
  expect(await steady.page()).toBe("v1");
  expect((await shown()).status).not.toBe("running");
  visitor.goOn();
  await eventually(shown, ({ status }) => status === "restarting");

  await database.comeBack();
  const page = () => needy.page().catch(() => "");
  expect(await eventually(page, (text) => text === "v1", 120_000)).toBe("v1");
  expect(await needy.get(id)).toMatchObject({ status: "ready", active: true });
  expect((await needy.call("POST", `/api/deployments/${id}/restart`)).status).toBe(200);
  await visitor.stop();
  expect(visitor.failures).toEqual([]);
});
