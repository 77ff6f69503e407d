import { expect, test } from "bun:test";
import { causeOf, type Failure } from "../../../domain/failure.ts";
import { DOCKER_HOST, dockerWorld } from "../../support/peers/docker_world.ts";
import { faultyEngine } from "../../support/faults/faulty_engine.ts";
import { answerOf, runRequest, whenStatus } from "../../contracts/runtime.ts";

test("start() uses another port when the first was taken, and leaves nothing of the first attempt", async () => {
  const refused: string[] = [];
  await using engine = await faultyEngine(({ path }) => {
    if (!path.endsWith("/start") || refused.push(path) > 1) return undefined;
    return "driver failed programming external connectivity: Bind for 127.0.0.1:23000 failed: port is already allocated";
  });
  await using world = await dockerWorld(engine.host, { watches: false });
  const started = await world.runtime.start(runRequest(world, world.programs.web));
  expect(await answerOf(started)).toBe("hello");
  expect(refused).toHaveLength(2);
  expect(refused[0]).not.toBe(refused[1]);
  expect(await world.docker("ps", "--all", "--quiet", "--filter", `id=${refused[0]!.split("/")[2]}`)).toBe("");
});

test("start() recreates a network that has just been removed", async () => {
  const removed: string[] = [];
  await using engine = await faultyEngine(({ path }) =>
    path.endsWith("/start") && removed.push(path) === 1 ? "network 0123abcd not found" : undefined,
  );
  await using world = await dockerWorld(engine.host, { watches: false });
  expect(await answerOf(await world.runtime.start(runRequest(world, world.programs.web)))).toBe("hello");
});

test("start() chooses an address range when the engine has none left", async () => {
  await using engine = await faultyEngine(({ path, body }) =>
    path === "/networks/create" && !body.includes("Subnet")
      ? "could not find an available, non-overlapping IPv4 address pool among the defaults to assign to the network"
      : undefined,
  );
  await using world = await dockerWorld(engine.host, { watches: false });
  const started = await world.runtime.start(runRequest(world, world.programs.web));
  expect(await answerOf(started)).toBe("hello");
  const container = await world.containerOf(started.instanceId);
  const address = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
  expect(await world.docker("inspect", "--format", address, container)).toMatch(/^10\.2[01]\d\.\d+\.\d+$/);
});

test("start() reveals no folder of the host when the engine fails, and leaves nothing", async () => {
  await using engine = await faultyEngine(({ path }) =>
    path.endsWith("/start") ? "error creating overlay mount to /var/lib/docker/overlay2/1: no space left" : undefined,
  );
  await using world = await dockerWorld(engine.host, { watches: false });
  const error = await world.runtime
    .start(runRequest(world, world.programs.web))
    .catch((reason: unknown) => reason as Failure);
  expect(error).toMatchObject({ kind: "unavailable", code: "engine_refused" });
  expect((error as Failure).message).not.toContain("/var");
  expect(causeOf(error)).toContain("no space left");
  expect(await world.runtime.list()).toEqual([]);
  const own = `label=slipway.installation=${world.installation}`;
  expect(await world.docker("network", "ls", "--quiet", "--filter", own)).toBe("");
});

test("supervise() starts what the engine could not, once its port is free again", async () => {
  await using world = await dockerWorld(DOCKER_HOST, { watches: false });
  const started = await world.runtime.start(runRequest(world, world.programs.web));
  await answerOf(started);
  const container = await world.containerOf(started.instanceId);
  await world.docker("stop", "--time", "0", container);
  const squatter = Bun.listen({ hostname: "127.0.0.1", port: started.port!, socket: { data() {} } });
  const error = await world.docker("start", container).catch((reason: unknown) => reason);
  squatter.stop(true);
  expect(error).toBeInstanceOf(Error);
  expect(await world.runtime.find(started.instanceId)).toMatchObject({ status: "exited", exit: { reason: "exited" } });
  await using next = world.another();
  await next.supervise();
  expect(await whenStatus(next, started.instanceId, "running")).toMatchObject({ status: "running", exit: null });
  expect(await answerOf(started)).toBe("hello");
});
