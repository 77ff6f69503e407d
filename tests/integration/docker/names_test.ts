import { expect, test } from "bun:test";
import type { Failure } from "../../../domain/failure.ts";
import type { RunnableImage, RunRequest } from "../../../ports/services/runtime.ts";
import { type DockerServices, dockerServices } from "../../support/peers/docker_services.ts";
import { eventually } from "../../support/eventually.ts";
import { type EngineQuestion, faultyEngine } from "../../support/faults/faulty_engine.ts";
import { TEST_LABEL } from "../../support/runner/test_leftovers.ts";
import { uniqueNumber } from "../../support/unique_number.ts";
import { answerOf, whenFailing, whenStatus } from "../../contracts/runtime.ts";
import { serviceRequest } from "../../contracts/service_runtime.ts";

const GRACE = { graceMs: 0 };

function api(world: DockerServices, given: Partial<RunRequest<RunnableImage>> = {}) {
  return serviceRequest(world, world.programs.working, { service: "api", ...given });
}

async function networksOf(world: DockerServices): Promise<readonly string[]> {
  return (await world.list<readonly { readonly Id: string }[]>("/networks")).map(({ Id }) => Id);
}

/** The command-line arguments for labels. */
function labelWords(labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels).flatMap(([name, value]) => ["--label", `${name}=${value}`]);
}

test.concurrent("an instance that is down while a name is handed over starts again, and finds the new one", async () => {
  await using world = await dockerServices();
  const { runtime } = world;
  // Only A records: with AAAA, the responses print in any order, and the last one may be that there is no such record.
  const task = serviceRequest(world, "nslookup -type=a api", { service: "task", oneShot: true });
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
  const printed = (since: number) => runtime.output(task.instanceId, { since, limit: 100 });
  await whenStatus(runtime, task.instanceId, "exited");
  const earlier = await printed(0);
  await runtime.restart(task.instanceId, GRACE);
  expect((await whenStatus(runtime, task.instanceId, "exited"))?.exit?.code).toBe(0);
  const { restarts } = (await whenFailing(runtime, failing.instanceId))!;
  await runtime.restart(failing.instanceId, GRACE);
  const again = await whenFailing(runtime, failing.instanceId, { after: restarts });
  expect(again?.exit).toEqual({ code: 1, reason: "exited" });
  const format = "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}";
  const addresses = await world.docker("inspect", "--format", format, await world.containerOf(before.instanceId));
  const lines = (await printed(earlier.at(-1)!.seq)).map(({ message }) => message);
  const found = lines.flatMap((line) => /^Address: ([\d.]+)$/.exec(line)?.[1] ?? []);
  expect([lines, found.map((address) => addresses.split(" ").includes(address))]).toEqual([lines, [true]]);
});

test.concurrent("an instance that was introduced and lost is found again when it is restarted", async () => {
  await using world = await dockerServices();
  const { runtime } = world;
  const web = serviceRequest(world, world.programs.working, { service: "web" });
  const [old, next] = [api(world), api(world, { unannounced: true })];
  for (const request of [web, old, next]) await runtime.start(request);
  await runtime.introduce(next.instanceId);
  for (const unannounced of [false, true]) {
    await world.docker("rm", "--force", await world.containerOf(next.instanceId));
    expect(await world.found(web.instanceId, "api")).toEqual([old.instanceId]);
    await runtime.start({ ...next, unannounced });
    if (unannounced) {
      expect(await world.found(web.instanceId, "api")).toEqual([old.instanceId]);
      await runtime.introduce(next.instanceId);
    }
    expect(await world.found(web.instanceId, "api")).toEqual([next.instanceId]);
    expect(await networksOf(world)).toHaveLength(2);
  }
});

test.concurrent("what remove() could not clean up is cleaned up by the next operation", async () => {
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

test.concurrent("introduce() that was interrupted anywhere works when it is repeated, and the networks are removed with the last", async () => {
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
  // The steps: the network, the old instance, the web, the new instance.
  for (const steps of [0, 1, 1, 1]) {
    left = steps;
    expect(
      await dying.introduce(next.instanceId).then(
        () => "done",
        () => "killed",
      ),
    ).toBe("killed");
    expect(await world.found(web.instanceId, "api")).toEqual([old.instanceId]);
    // A server starts something meanwhile.
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

test.concurrent.each([
  [404, "network 1234 not found"],
  [500, "container 1234 is not running"],
])(
  "introduce() reads everything again when the engine answers %i, %j, and reports when that does not help",
  async (status, words) => {
    let refusals = 2;
    const refuse = ({ path }: EngineQuestion) => (path.endsWith("/connect") && refusals-- > 0 ? words : undefined);
    await using engine = await faultyEngine(refuse, { status });
    await using world = await dockerServices();
    const server = world.another(engine.host);
    const [web, next] = [api(world, { service: "web" }), api(world, { unannounced: true })];
    for (const request of [web, next]) await world.runtime.start(request);
    await server.introduce(next.instanceId);
    expect(await world.found(web.instanceId, "api")).toEqual([next.instanceId]);
    refusals = Infinity;
    expect(await server.introduce(next.instanceId).catch((error: Failure) => error.code)).toBe("engine_refused");
  },
);

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

test.concurrent("a container of an earlier version is recognized, keeps its network, and is replaced", async () => {
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
  const subnet = ["--subnet", `10.240.${uniqueNumber() % 256}.0/24`];
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
