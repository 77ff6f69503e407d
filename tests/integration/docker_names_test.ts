import { expect, setDefaultTimeout, test } from "bun:test";
import { connect, type Socket } from "node:net";
import type { RunnableImage, RunRequest } from "../../ports/runtime.ts";
import { type DockerServices, dockerServices } from "../support/docker_services.ts";
import { eventually } from "../support/eventually.ts";
import { faultyEngine } from "../support/faulty_engine.ts";
import { TEST_LABEL } from "../support/test_leftovers.ts";
import { answerOf } from "../contracts/runtime.ts";
import { serviceRequest } from "../contracts/service_runtime.ts";

// The disk and the processors may be busy with other suites.
setDefaultTimeout(120_000);

const GRACE = { graceMs: 0 };

function api(world: DockerServices, given: Partial<RunRequest<RunnableImage>> = {}) {
  return serviceRequest(world, world.programs.working, { service: "api", ...given });
}

function networksOf(world: DockerServices): Promise<string> {
  return world.docker("network", "ls", "--quiet", "--filter", `label=slipway.installation=${world.installation}`);
}

/** A connection on which what is sent comes back. */
async function echoing(port: number): Promise<{ say(word: string): Promise<string>; readonly socket: Socket }> {
  const socket = connect(port, "127.0.0.1");
  let heard = "";
  socket.on("data", (bytes) => (heard += bytes.toString()));
  const failed = new Promise<never>((_, reject) => socket.once("close", () => reject(new Error("closed"))));
  failed.catch(() => {});
  const say = async (word: string) => {
    heard = "";
    socket.write(`${word}\n`);
    return Promise.race([
      failed,
      eventually(
        async () => heard,
        (text) => text.endsWith("\n"),
      ),
    ]);
  };
  return { say, socket };
}

/** The same, once it is answered. */
async function connected(port: number) {
  const opened = await eventually(
    async () => {
      const attempt = await echoing(port);
      if ((await attempt.say("first").catch(() => "")) === "first\n") return attempt;
      attempt.socket.destroy();
      return undefined;
    },
    (attempt) => attempt !== undefined,
  );
  return opened!;
}

/** The engine's words for labels. */
function labelWords(labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels).flatMap(([name, value]) => ["--label", `${name}=${value}`]);
}

test.concurrent("introduce() breaks no connection: neither of visitors, nor between services", async () => {
  await using world = await dockerServices();
  const { runtime } = world;
  // Whoever connects to the web talks through it to the old one, then to the new one.
  const echo = "while :; do nc -l -p 7000 -e cat; done";
  const old = serviceRequest(world, echo, { service: "api" });
  const web = serviceRequest(world, "while :; do nc -l -p 8080 -e nc api 7000; done", {
    service: "web",
    ports: [8_080],
  });
  const next = serviceRequest(world, "while :; do nc -l -p 9090 -e cat; done", {
    service: "api",
    unannounced: true,
    ports: [9_090],
  });
  await runtime.start(old);
  const [started, fresh] = [await runtime.start(web), await runtime.start(next)];
  const through = await connected(started.port!);
  const own = await connected(fresh.port!);
  await runtime.introduce(next.instanceId);
  expect(await world.found(web.instanceId, "api")).toEqual([old.instanceId, next.instanceId].toSorted());
  expect(await through.say("second")).toBe("second\n");
  expect(await own.say("second")).toBe("second\n");
  for (const { socket } of [through, own]) socket.destroy();
});

test.concurrent("introduce() that was broken off anywhere works when it is repeated, and the networks go with the last", async () => {
  let left = 0;
  await using engine = await faultyEngine(({ path }) =>
    (path.endsWith("/connect") || path === "/networks/create") && left-- <= 0
      ? "the server was killed here"
      : undefined,
  );
  await using world = await dockerServices();
  const old = api(world);
  const web = serviceRequest(world, world.programs.working, { service: "web" });
  const next = api(world, { unannounced: true });
  for (const request of [old, web, next]) await world.runtime.start(request);
  const dying = world.another(engine.host);
  // The network, the old one, the web, the new one.
  for (const steps of [0, 1, 1, 1]) {
    left = steps;
    expect(
      await dying.introduce(next.instanceId).then(
        () => "done",
        () => "killed",
      ),
    ).toBe("killed");
    expect(await world.found(web.instanceId, "api")).toEqual([old.instanceId]);
    // A server that starts something meanwhile.
    const late = serviceRequest(world, world.programs.working, { service: "late" });
    await world.runtime.start(late);
    expect(await world.found(late.instanceId, "api")).toEqual([old.instanceId]);
    await world.runtime.remove(late.instanceId, GRACE);
  }
  await Promise.all([world.runtime, world.another(), world.another()].map((each) => each.introduce(next.instanceId)));
  expect(await world.found(web.instanceId, "api")).toEqual([old.instanceId, next.instanceId].toSorted());
  expect((await networksOf(world)).split("\n")).toHaveLength(2);
  for (const { instanceId } of [old, web, next]) await world.runtime.remove(instanceId, GRACE);
  expect(await networksOf(world)).toBe("");
});

test.concurrent("many servers that start and introduce at once leave all names known to all", async () => {
  await using world = await dockerServices();
  const old = ["api", "db"].map((service) => serviceRequest(world, world.programs.working, { service }));
  for (const request of old) await world.runtime.start(request);
  const next = ["api", "db"].map((service) =>
    serviceRequest(world, world.programs.working, { service, unannounced: true }),
  );
  const webs = Array.from({ length: 3 }, () => serviceRequest(world, world.programs.working, { service: "web" }));
  const replace = async (request: RunRequest<RunnableImage>) => {
    const server = world.another();
    await server.start(request);
    if (request.unannounced) await server.introduce(request.instanceId);
  };
  await Promise.all([...next, ...webs].map(replace));
  for (const { instanceId } of old) await world.runtime.remove(instanceId, GRACE);
  for (const { instanceId } of webs) {
    expect(await world.found(instanceId, "api")).toEqual([next[0]!.instanceId]);
    expect(await world.found(instanceId, "db")).toEqual([next[1]!.instanceId]);
  }
  expect(await world.found(next[0]!.instanceId, "db")).toEqual([next[1]!.instanceId]);
  expect(await world.found(next[1]!.instanceId, "api")).toEqual([next[0]!.instanceId]);
});

test.concurrent("a container that an earlier version made is understood, keeps its network, and is replaced", async () => {
  await using world = await dockerServices();
  const { prefix } = world;
  const labels = {
    [TEST_LABEL]: "1",
    "slipway.installation": world.installation,
    "slipway.instance": "earlier",
    "slipway.deployment": "dep_0",
    "slipway.project": "prj_1",
    "slipway.service": "app",
    "slipway.one-shot": "false",
  };
  const network = `${prefix}prj_1`;
  const subnet = ["--subnet", `10.240.${Math.floor(Math.random() * 256)}.0/24`];
  await world.docker("network", "create", ...subnet, ...labelWords(labels), network);
  const program = ["sh", "-c", "mkdir /tmp/w; echo earlier >/tmp/w/index.html; exec httpd -f -p 3000 -h /tmp/w"];
  const published = ["--publish", "127.0.0.1:29871:3000", "--restart", "unless-stopped"];
  const own = labelWords({ ...labels, "slipway.port": "29871" });
  const joined = ["--network", network, "--network-alias", "app"];
  await world.docker(
    "run",
    "--detach",
    "--name",
    `${prefix}earlier`,
    ...own,
    ...published,
    ...joined,
    world.image,
    ...program,
  );
  const expected = {
    instanceId: "earlier",
    port: 29_871,
    ports: [{ inside: 3_000, port: 29_871 }],
    projectId: "prj_1",
  };
  const found = await eventually(
    () => world.runtime.find("earlier"),
    (instance) => instance?.status === "running",
  );
  expect(found).toMatchObject({ ...expected, status: "running" });
  expect(await answerOf(found!)).toBe("earlier\n");
  const next = serviceRequest(world, world.programs.working, { unannounced: true });
  const web = serviceRequest(world, world.programs.working, { service: "web" });
  for (const request of [next, web]) await world.runtime.start(request);
  expect((await networksOf(world)).split("\n")).toHaveLength(1);
  expect(await world.found(web.instanceId, "app")).toEqual(["earlier"]);
  await world.runtime.introduce(next.instanceId);
  expect(await world.found(web.instanceId, "app")).toEqual(["earlier", next.instanceId].toSorted());
  await world.runtime.remove("earlier", GRACE);
  expect(await world.found(web.instanceId, "app")).toEqual([next.instanceId]);
  for (const { instanceId } of [web, next]) await world.runtime.remove(instanceId, GRACE);
  expect(await networksOf(world)).toBe("");
});
