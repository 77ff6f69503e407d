import { expect, setDefaultTimeout, test } from "bun:test";
import { connect, type Socket } from "node:net";
import type { RunnableImage, RunRequest } from "../../ports/runtime.ts";
import { type DockerServices, dockerServices } from "../support/docker_services.ts";
import { eventually } from "../support/eventually.ts";
import { faultyEngine } from "../support/faulty_engine.ts";
import { TEST_LABEL } from "../support/test_leftovers.ts";
import { answerOf, whenStatus } from "../contracts/runtime.ts";
import { serviceRequest } from "../contracts/service_runtime.ts";

// The disk and the processors may be busy with other suites.
setDefaultTimeout(120_000);

const GRACE = { graceMs: 0 };
const HANDOVERS = 20;

function api(world: DockerServices, given: Partial<RunRequest<RunnableImage>> = {}) {
  return serviceRequest(world, world.programs.working, { service: "api", ...given });
}

async function networksOf(world: DockerServices): Promise<readonly string[]> {
  const own = `label=slipway.installation=${world.installation}`;
  return (await world.docker("network", "ls", "--quiet", "--filter", own)).split("\n").filter((id) => id !== "");
}

/** Answers on port 3000 with a word, and at once ends when it is asked to. */
function saying(word: string): string {
  return `mkdir /tmp/w; echo ${word} >/tmp/w/index.html; exec httpd -f -p 3000 -h /tmp/w`;
}

/** Asks `api` without a pause, by its name, and prints what it says. */
const ASKING = "while :; do wget -q -T 5 -O - http://api:3000/ || echo failed; done";

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

test.concurrent("introduce() breaks no connection, of visitors or between services, nor does remove() of the old one", async () => {
  await using world = await dockerServices();
  const { runtime } = world;
  // Whoever connects to one of these talks through it to whom it finds by the name.
  const echo = "while :; do nc -l -p 7000 -e cat; done";
  const old = serviceRequest(world, echo, { service: "api" });
  const web = serviceRequest(world, "while :; do nc -l -p 8080 -e nc api 7000; done", {
    service: "web",
    ports: [8_080],
  });
  const other = serviceRequest(world, "while :; do nc -l -p 8080 -e nc api 9090; done", {
    service: "other",
    ports: [8_080],
  });
  // Two at once: one for the visitor, one for the other service.
  const next = serviceRequest(world, "nc -l -p 7070 -e cat & while :; do nc -l -p 9090 -e cat; done", {
    service: "api",
    unannounced: true,
    ports: [7_070],
  });
  await runtime.start(old);
  const beside = await runtime.start(other);
  const [started, fresh] = [await runtime.start(web), await runtime.start(next)];
  const through = await connected(started.port!);
  const own = await connected(fresh.port!);
  await runtime.introduce(next.instanceId);
  expect(await world.found(web.instanceId, "api")).toEqual([next.instanceId]);
  const later = await connected(beside.port!);
  for (const each of [through, own, later]) expect(await each.say("second")).toBe("second\n");
  await runtime.remove(old.instanceId, GRACE);
  for (const each of [own, later]) expect(await each.say("third")).toBe("third\n");
  // The same when the network of one that was introduced goes.
  const last = api(world, { unannounced: true });
  await runtime.start(last);
  await runtime.introduce(last.instanceId);
  for (const each of [own, later]) expect(await each.say("fourth")).toBe("fourth\n");
  for (const { socket } of [through, own, later]) socket.destroy();
});

test.concurrent("over many handovers a name leads to one that answers, at once to the new one, and networks do not pile up", async () => {
  await using world = await dockerServices();
  const { runtime } = world;
  const asker = serviceRequest(world, ASKING, { service: "web" });
  const version = async (number: number) => {
    const given = { service: "api", unannounced: number > 0, ports: [3_000] };
    const request = serviceRequest(world, saying(`v${number}`), given);
    expect(await answerOf(await runtime.start(request))).toBe(`v${number}\n`);
    return request.instanceId;
  };
  let before = await version(0);
  await runtime.start(asker);
  const container = await world.containerOf(asker.instanceId);
  const say = (word: string) => world.docker("exec", container, "sh", "-c", `echo ${word} >/proc/1/fd/1`);
  const heard = async () => (await world.docker("logs", container)).split("\n");
  // The answer that was under way does not count.
  const heardAfter = async (word: string) => {
    const lines = await heard();
    return lines.includes(word) ? lines.slice(lines.indexOf(word) + 2) : [];
  };
  for (let number = 1; number <= HANDOVERS; number++) {
    const next = await version(number);
    await runtime.introduce(next);
    await say(`introduced-${number}`);
    await eventually(
      () => heardAfter(`introduced-${number}`),
      ({ length }) => length >= 3,
    );
    await runtime.remove(before, GRACE);
    expect([number, (await networksOf(world)).length]).toEqual([number, 2]);
    before = next;
  }
  // Between two marks: the old one and then the new one; after a mark, the new one alone.
  let [number, underWay] = [0, false];
  for (const line of await heard()) {
    const [, mark] = /^introduced-(\d+)$/.exec(line) ?? [];
    if (mark !== undefined) [number, underWay] = [Number(mark), true];
    else {
      const expected = underWay ? [number - 1, number] : [number, number + 1];
      expect([line, expected.some((each) => line === `v${each}`)]).toEqual([line, true]);
      underWay = false;
    }
  }
  expect(number).toBe(HANDOVERS);
}, 600_000);

test.concurrent("one that does not run while a name is handed over starts again, and finds the new one", async () => {
  await using world = await dockerServices();
  const { runtime } = world;
  const task = serviceRequest(world, "nslookup api | tail -n 2", { service: "task", oneShot: true });
  const failing = serviceRequest(world, "exit 1", { service: "failing" });
  let before = api(world);
  for (const request of [before, task, failing]) await runtime.start(request);
  for (let time = 0; time < 2; time++) {
    const next = api(world, { unannounced: true });
    await runtime.start(next);
    await runtime.introduce(next.instanceId);
    await runtime.remove(before.instanceId, GRACE);
    before = next;
  }
  for (const { instanceId } of [task, failing]) {
    await whenStatus(runtime, instanceId, "exited");
    await runtime.restart(instanceId, GRACE);
    expect((await whenStatus(runtime, instanceId, "exited"))?.exit?.code).toBe(instanceId === task.instanceId ? 0 : 1);
  }
  const format = "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}";
  const addresses = await world.docker("inspect", "--format", format, await world.containerOf(before.instanceId));
  const lines = await runtime.output(task.instanceId, { since: 0, limit: 100 });
  const [, found] = /^Address:\s*([\d.]+)/.exec(lines.findLast(({ message }) => message !== "")!.message) ?? [];
  expect(addresses.split(" ")).toContain(found!);
});

test.concurrent("what remove() could not clean up is cleaned up by whoever comes next", async () => {
  let refused: RegExp | undefined;
  await using engine = await faultyEngine(({ method, path }) =>
    refused?.test(`${method} ${path}`) ? "the server was killed here" : undefined,
  );
  await using world = await dockerServices();
  const dying = world.another(engine.host);
  const web = serviceRequest(world, world.programs.working, { service: "web" });
  let before = api(world, { unannounced: true });
  for (const request of [web, before]) await world.runtime.start(request);
  await world.runtime.introduce(before.instanceId);
  const late = serviceRequest(world, world.programs.working, { service: "late" });
  const handOver = async () => {
    const next = api(world, { unannounced: true });
    await world.runtime.start(next);
    await world.runtime.introduce(next.instanceId);
    await dying.remove(before.instanceId, GRACE);
    before = next;
    expect(await networksOf(world)).toHaveLength(3);
    expect(await world.found(web.instanceId, "api")).toEqual([next.instanceId]);
  };
  const broken = /POST .*\/disconnect|DELETE \/networks/;
  for (const [refusing, next] of [
    [broken, () => world.runtime.start(late)],
    [/DELETE \/networks/, () => world.runtime.remove(late.instanceId, GRACE)],
    [broken, () => world.runtime.introduce(before.instanceId)],
  ] as const) {
    refused = refusing;
    await handOver();
    await next();
    expect(await networksOf(world)).toHaveLength(2);
    expect(await world.found(web.instanceId, "api")).toEqual([before.instanceId]);
  }
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
  expect(await world.found(web.instanceId, "api")).toEqual([next.instanceId]);
  expect(await networksOf(world)).toHaveLength(2);
  for (const { instanceId } of [old, web, next]) await world.runtime.remove(instanceId, GRACE);
  expect(await networksOf(world)).toEqual([]);
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
  expect(await networksOf(world)).toHaveLength(1);
  expect(await world.found(web.instanceId, "app")).toEqual(["earlier"]);
  await world.runtime.introduce(next.instanceId);
  expect(await world.found(web.instanceId, "app")).toEqual([next.instanceId]);
  await world.runtime.remove("earlier", GRACE);
  expect(await world.found(web.instanceId, "app")).toEqual([next.instanceId]);
  for (const { instanceId } of [web, next]) await world.runtime.remove(instanceId, GRACE);
  expect(await networksOf(world)).toEqual([]);
});
