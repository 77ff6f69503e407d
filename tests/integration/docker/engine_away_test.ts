import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DockerRuntime } from "../../../adapters/docker/containers/docker_runtime.ts";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { Failure } from "../../../domain/failure.ts";
import { dockerWorld, tinyImage } from "../../support/peers/docker_world.ts";
import { eventually } from "../../support/eventually.ts";
import { OwnEngine } from "../../support/peers/own_engine.ts";
import { answerOf, runRequest, whenStatus } from "../../contracts/runtime.ts";

const runs = (command: string) => ({ kind: "image", image: "sha256:0", command, ports: [8080] }) as const;
const GRACE = { graceMs: 100 };

/** The result or error of every method of a runtime. */
async function answersOf(runtime: DockerRuntime): Promise<unknown[]> {
  const calls = [
    runtime.start(runRequest({ runs }, "")),
    runtime.find("x"),
    runtime.list(),
    runtime.remove("x", GRACE),
    runtime.restart("x", GRACE),
    runtime.introduce("x"),
    runtime.usage("x"),
    runtime.output("x", { since: 0, limit: 1 }),
  ];
  return Promise.all(calls.map((each: Promise<unknown>) => each.catch((error: unknown) => error)));
}

function expectAway(answers: readonly unknown[]): void {
  expect(answers.map((answer) => answer instanceof Failure && [answer.kind, answer.code])).toEqual(
    answers.map(() => ["unavailable", "engine_away"]),
  );
}

describe("DockerRuntime without an engine", () => {
  test("reports for every call that nothing answers, and supervise() does not wait for it", async () => {
    const engine = new EngineApi("unix:///no/such/docker.sock");
    const folder = await mkdtemp(join(tmpdir(), "slipway-"));
    await using runtime = new DockerRuntime({ engine, installation: "test", folder });
    await runtime.supervise();
    expectAway(await answersOf(runtime));
    await rm(folder, { recursive: true });
  });

  test.each([
    ["never answers", ""],
    ["stops in the middle of a response", 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[{"Id":'],
  ])("reports an engine that %s as unavailable", async (_, words) => {
    const folder = await mkdtemp(join(tmpdir(), "slipway-"));
    const socket = join(folder, "docker.sock");
    const open = new Set<Socket>();
    const silent = createServer((each) => {
      open.add(each.on("error", () => {}));
      each.once("data", () => each.write(words));
    });
    await new Promise<void>((resolve) => silent.listen(socket, resolve));
    try {
      const engine = new EngineApi(`unix://${socket}`, { answerMs: 300 });
      await using runtime = new DockerRuntime({ engine, installation: "test", folder });
      await runtime.supervise();
      expectAway(await answersOf(runtime));
    } finally {
      for (const each of open) each.destroy();
      silent.close();
      await rm(folder, { recursive: true });
    }
  });
});

test("DockerRuntime finds its instances again after a restart of the engine, running at the same address", async () => {
  const image = await tinyImage();
  await using engine = await OwnEngine.start([image]);
  await using world = await dockerWorld(engine.host);
  const { runtime, programs } = world;
  const web = await runtime.start(runRequest(world, programs.web));
  const once = await runtime.start(runRequest(world, programs.crashing, { oneShot: true }));
  await answerOf(web);
  await whenStatus(runtime, once.instanceId, "exited");
  const [before] = await eventually(
    () => runtime.output(web.instanceId, { since: 0, limit: 1 }),
    ({ length }) => length === 1,
  );
  await engine.stop();
  expectAway([await runtime.find(web.instanceId).catch((error: unknown) => error)]);
  await engine.start();
  const again = await whenStatus(runtime, web.instanceId, "running");
  expect(again).toMatchObject({ status: "running", port: web.port, exit: null });
  expect(await answerOf(web)).toBe("hello");
  const lines = await eventually(
    () => runtime.output(web.instanceId, { since: 0, limit: 10 }),
    ({ length }) => length >= 2,
  );
  expect(lines[0]).toEqual(before!);
  expect(lines.map(({ message }) => message)).toEqual(["started", "started"]);
  expect(await runtime.find(once.instanceId)).toMatchObject({ status: "exited", exit: { code: 3, reason: "exited" } });
  // The watcher has reconnected to the engine, too: it restarts stopped containers.
  const container = await world.containerOf(web.instanceId);
  await world.docker("update", "--restart", "no", container);
  await world.docker("kill", container);
  const status = () => world.docker("inspect", "--format", "{{.State.Status}}", container);
  expect(await eventually(status, (word) => word === "running")).toBe("running");
});
