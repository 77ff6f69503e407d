import { describe, expect, test } from "bun:test";
import { containerListens } from "../../../adapters/docker/containers/container_listening.ts";
import type { ContainerRecord } from "../../../adapters/docker/engine/containers.ts";
import { DockerSockets } from "../../../adapters/docker/containers/docker_sockets.ts";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { causeOf, type Failure } from "../../../domain/failure.ts";
import { Secret } from "../../../domain/secret.ts";
import { DOCKER_HOST, type DockerWorld, dockerWorld, INNER_PORT, tinyImage } from "../../support/peers/docker_world.ts";
import { eventually } from "../../support/eventually.ts";
import { processesWith } from "../../support/processes_with.ts";
import { TEST_LABEL } from "../../support/runner/test_leftovers.ts";
import { instanceSocketsContract } from "../../contracts/instance_sockets.ts";
import {
  afterFailures,
  answerOf,
  runRequest,
  runtimeContract,
  whenFailing,
  whenStatus,
} from "../../contracts/runtime.ts";
import { uniqueNumber } from "../../support/unique_number.ts";
import { runtimeRemovalContract } from "../../contracts/runtime_removal.ts";

// Starting and stopping a container is mostly waiting: adjacent tests run concurrently, and a sequential test in
// between keeps the groups small.

runtimeContract("Docker", () => dockerWorld(), { atOnce: true });
runtimeRemovalContract("Docker", () => dockerWorld(), { atOnce: true });

instanceSocketsContract("Docker", async () => {
  const world = await dockerWorld();
  const sockets = new DockerSockets({ engine: new EngineApi(DOCKER_HOST), installation: world.installation });
  const port = INNER_PORT + 1;
  return {
    ...world,
    sockets,
    elsewhere: { command: `mkdir /tmp/w; exec httpd -f -p 127.0.0.1:${port} -h /tmp/w`, port },
  };
});

async function inspected(world: DockerWorld, instanceId: string): Promise<ContainerRecord & Record<string, unknown>> {
  return new EngineApi(DOCKER_HOST).json("GET", `/containers/${await world.containerOf(instanceId)}/json`);
}

/** Runs a command to its end and returns its output. */
async function printedBy(world: DockerWorld, command: string, given: Parameters<typeof runRequest>[2] = {}) {
  const request = { ...runRequest(world, command, { oneShot: true }), ...given, runs: world.runs(command) };
  await world.runtime.start(request);
  await whenStatus(world.runtime, request.instanceId, "exited");
  const lines = await world.runtime.output(request.instanceId, { since: 0, limit: 1_000 });
  return lines.map(({ message }) => message);
}

describe("DockerRuntime: what cannot be started", () => {
  test.each([
    ["an image that is not there", { image: `sha256:${"0".repeat(64)}` }, {}, "image_missing"],
    ["too little memory", {}, { memoryBytes: 1_000 }, "start_failed"],
    ["a bad id", {}, { instanceId: "../x" }, "invalid_instance_id"],
  ] as const)("start() with %s fails and leaves nothing", async (_, runs, given, code) => {
    await using world = await dockerWorld();
    const request = runRequest(world, world.programs.web, given);
    const error = await world.runtime
      .start({ ...request, runs: { ...request.runs, ...runs } })
      .catch((e: unknown) => e);
    expect((error as Failure).code).toBe(code);
    expect(await world.runtime.list()).toEqual([]);
    const own = `label=slipway.installation=${world.installation}`;
    expect(await world.docker("network", "ls", "--quiet", "--filter", own)).toBe("");
  });

  test("start() never reveals a value of the environment when the engine refuses it", async () => {
    await using world = await dockerWorld();
    const canary = `canary-${crypto.randomUUID()}`;
    const environment = new Map([["", new Secret(canary)]]);
    const error = (await world.runtime
      .start(runRequest(world, world.programs.web, { environment }))
      .catch((reason: unknown) => reason)) as Failure;
    expect(error.code).toBe("start_failed");
    expect(`${error.message} ${causeOf(error)} ${Bun.inspect(error)}`).not.toContain(canary);
  });
});

describe("DockerRuntime: what a program gets", () => {
  test.concurrent("start() sets limits and permissions, publishes on loopback only, and labels what it created", async () => {
    await using world = await dockerWorld();
    const request = runRequest(world, world.programs.web, { memoryBytes: 128 * 1024 * 1024, cpus: 0.5 });
    const { port } = await world.runtime.start(request);
    const { HostConfig, Config, Image } = await inspected(world, request.instanceId);
    expect(HostConfig).toMatchObject({
      Memory: 134_217_728,
      MemorySwap: 134_217_728,
      NanoCpus: 500_000_000,
      PidsLimit: 4_096,
      Init: true,
      Privileged: false,
      RestartPolicy: { Name: "unless-stopped" },
      SecurityOpt: ["no-new-privileges"],
      LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "3" } },
      PortBindings: { "8080/tcp": [{ HostIp: "127.0.0.1", HostPort: `${port}` }] },
    });
    expect(HostConfig).toHaveProperty("CapDrop", ["AUDIT_WRITE", "MKNOD", "NET_RAW", "SETFCAP", "SETPCAP"]);
    expect(Config.Labels).toMatchObject({
      "slipway.installation": world.installation,
      "slipway.instance": request.instanceId,
      "slipway.deployment": "dep_1",
      "slipway.project": "prj_1",
      "slipway.service": "app",
    });
    expect(await world.runtime.find(request.instanceId)).toMatchObject({ image: Image, relayed: true, health: null });
  });

  test.concurrent("start() passes the given environment, odd values too, and nothing of its own", async () => {
    await using world = await dockerWorld();
    const odd = 'it\'s "odd" $(id) `id` \\ ü \u{1f680} \t*';
    const environment = new Map([
      ["ODD", new Secret(odd)],
      ["EMPTY", new Secret("")],
      ["PORT", new Secret("1")],
    ]);
    const command = `printf '%s\\n' "$ODD" "$EMPTY" "$PORT"`;
    expect(await printedBy(world, command, { environment })).toEqual([odd, "", "1"]);
  });

  test.concurrent("start() without a command runs the image as built, with its health check, stop signal and volumes", async () => {
    await using world = await dockerWorld();
    const image = await tinyImage("furnished");
    const volumes = async () => (await world.docker("volume", "ls", "--quiet")).split("\n");
    const runs = { kind: "image", image, command: null, ports: [3_000] } as const;
    const environment = new Map([["PORT", new Secret("3000")]]);
    const { instanceId } = await world.runtime.start(runRequest(world, "", { runs, environment }));
    const health = (wanted: string) =>
      eventually(
        () => world.runtime.find(instanceId),
        (instance) => instance?.health === wanted,
      );
    expect(await health("healthy")).toMatchObject({ health: "healthy", status: "running" });
    const container = await world.containerOf(instanceId);
    const mounts = await world.docker("inspect", "--format", "{{range .Mounts}}{{.Name}}{{end}}", container);
    expect(await volumes()).toContain(mounts);
    await world.docker("exec", container, "rm", "/tmp/healthy");
    expect(await health("unhealthy")).toMatchObject({ health: "unhealthy", status: "running" });
    await world.runtime.restart(instanceId, { graceMs: 5_000 });
    const lines = await world.runtime.output(instanceId, { since: 0, limit: 10 });
    expect(lines.map(({ message }) => message)).toEqual(["bye"]);
    await world.runtime.remove(instanceId, { graceMs: 5_000 });
    expect(await volumes()).not.toContain(mounts);
  });

  test.concurrent("containerListens() returns the same with and without access to the container", async () => {
    await using world = await dockerWorld();
    const engine = new EngineApi(DOCKER_HOST);
    const inside = `mkdir /tmp/w; exec httpd -f -p 127.0.0.1:${INNER_PORT} -h /tmp/w`;
    for (const [command, listens] of [
      [world.programs.web, true],
      [world.programs.silent, false],
      [inside, false],
    ] as const) {
      const { instanceId } = await world.runtime.start(runRequest(world, command));
      const id = await world.containerOf(instanceId);
      const record = await engine.json<ContainerRecord>("GET", `/containers/${id}/json`);
      const seen = await eventually(
        () => containerListens(record),
        (answer) => answer === listens,
      );
      expect([command, seen, await containerListens(record, { proc: "/no/such/folder" })]).toEqual([
        command,
        listens,
        listens,
      ]);
    }
  });

  test.concurrent("usage() reports processor and network use", async () => {
    await using world = await dockerWorld();
    const started = await world.runtime.start(runRequest(world, `(while :; do :; done) & ${world.programs.web}`));
    await answerOf(started);
    const usage = await world.runtime.usage(started.instanceId);
    expect(usage?.cpuPercent).toBeGreaterThan(5);
    expect(usage?.networkRxBytes).toBeGreaterThan(0);
    expect(usage?.networkTxBytes).toBeGreaterThan(0);
    await world.docker("stop", "--time", "0", await world.containerOf(started.instanceId));
    expect(await world.runtime.usage(started.instanceId)).toMatchObject({ cpuPercent: 0, memoryBytes: 0 });
    expect(await world.runtime.find(started.instanceId)).toMatchObject({
      status: "exited",
      containerId: null,
      exit: { reason: "stopped" },
    });
  });
});

describe("DockerRuntime: beside others on the same engine", () => {
  test("start() refuses an id that is taken by one that was restarted", async () => {
    await using world = await dockerWorld();
    const request = runRequest(world, world.programs.silent);
    await world.runtime.start(request);
    await world.runtime.restart(request.instanceId, { graceMs: 0 });
    const error = await world.runtime.start(request).catch((reason: unknown) => reason);
    expect((error as Failure).code).toBe("instance_exists");
    expect(await world.runtime.list()).toMatchObject([{ instanceId: request.instanceId, restarts: 1 }]);
  });

  test.concurrent("containers of others are neither seen nor touched, regardless of their labels", async () => {
    await using world = await dockerWorld();
    await using neighbour = await dockerWorld();
    const labels = (instanceId: string) =>
      Object.entries({
        [TEST_LABEL]: "1",
        "slipway.installation": world.installation,
        "slipway.instance": instanceId,
        "slipway.project": "prj_1",
      }).flatMap(([name, value]) => ["--label", `${name}=${value}`]);
    const own = await world.runtime.start(runRequest(world, world.programs.web));
    // A container run by hand from an image with our labels has these labels, too.
    const byHand = await Promise.all(
      [["--label", `${TEST_LABEL}=1`], labels("by-hand"), labels(own.instanceId)].map((words) =>
        world.docker("run", "--detach", "--network", "none", ...words, world.image),
      ),
    );
    const other = await neighbour.runtime.start(runRequest(neighbour, neighbour.programs.web));
    const container = await neighbour.containerOf(other.instanceId);
    const state = () => world.docker("inspect", "--format", "{{.State.StartedAt}}", ...byHand, container);
    const before = await state();
    try {
      expect((await world.runtime.list()).map(({ instanceId }) => instanceId)).toEqual([own.instanceId]);
      for (const instanceId of ["by-hand", other.instanceId]) {
        expect(await world.runtime.find(instanceId)).toBeUndefined();
        expect(await world.runtime.usage(instanceId)).toBeUndefined();
        expect(await world.runtime.output(instanceId, { since: 0, limit: 10 })).toEqual([]);
        await world.runtime.remove(instanceId, { graceMs: 0 });
      }
      await world.runtime.remove(own.instanceId, { graceMs: 0 });
      expect(await state()).toBe(before);
      expect(await answerOf(other)).toBe("hello");
    } finally {
      await world.docker("rm", "--force", ...byHand);
    }
  });

  test.concurrent("instances of one scope find each other by the name of the service, others do not, and the network is removed with the last", async () => {
    await using world = await dockerWorld();
    const { runtime } = world;
    const web = runRequest(world, world.programs.web, { service: "backend" });
    const others = ["prj_1", "prj_2"].map((scope) => runRequest(world, world.programs.silent, { scope }));
    await Promise.all([web, ...others].map((request) => runtime.start(request)));
    const networks = () =>
      world.docker("network", "ls", "--filter", `label=slipway.installation=${world.installation}`, "--quiet");
    expect((await networks()).split("\n")).toHaveLength(2);
    const [near, far] = await Promise.all(others.map(({ instanceId }) => world.containerOf(instanceId)));
    const look = (container: string) => world.docker("exec", container, "nslookup", "backend").catch(() => "unknown");
    expect(await look(near!)).toContain("Name:");
    expect(await look(far!)).toBe("unknown");
    await runtime.remove(web.instanceId, { graceMs: 0 });
    expect((await networks()).split("\n")).toHaveLength(2);
    for (const { instanceId } of others) await runtime.remove(instanceId, { graceMs: 0 });
    expect(await networks()).toBe("");
  });

  test.concurrent("many servers that start at once get different ports and share one network", async () => {
    await using world = await dockerWorld();
    const servers = Array.from({ length: 6 }, () => world.another());
    const started = await Promise.all(servers.map((each) => each.start(runRequest(world, world.programs.web))));
    expect(new Set(started.map(({ port }) => port)).size).toBe(6);
    for (const each of started) expect(await answerOf(each)).toBe("hello");
    const own = `label=slipway.installation=${world.installation}`;
    expect((await world.docker("network", "ls", "--quiet", "--filter", own)).split("\n")).toHaveLength(1);
    const same = runRequest(world, world.programs.web);
    const outcomes = await Promise.allSettled(servers.map((each) => each.start(same)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await world.runtime.list()).toHaveLength(7);
  });
});

describe("DockerRuntime: how a program ends", () => {
  test("two servers that restart at once leave one program", async () => {
    await using world = await dockerWorld();
    const { instanceId } = await world.runtime.start(runRequest(world, world.programs.silent));
    const servers = [world.runtime, world.another()];
    await Promise.all([...servers, ...servers].map((each) => each.restart(instanceId, { graceMs: 0 })));
    // One of them may have stopped what another had just started: the engine restarts it by itself.
    const left = await eventually(
      () => world.runtime.list(),
      (all) => all.every(({ exit }) => exit === null),
    );
    expect(left).toMatchObject([{ instanceId, exit: null }]);
    await Promise.all([
      world.runtime.remove(instanceId, { graceMs: 0 }),
      servers[1]!.restart(instanceId, { graceMs: 0 }).catch(() => {}),
    ]);
    await world.runtime.remove(instanceId, { graceMs: 0 });
    expect(await world.runtime.list()).toEqual([]);
  });

  test.concurrent("remove() by several servers at once leaves no child behind, even of a paused one that ignores signals", async () => {
    await using world = await dockerWorld();
    const seconds = `${uniqueNumber()}`;
    const command = [
      "trap '' TERM",
      `sleep ${seconds} &`,
      `(setsid sh -c 'trap "" TERM; sleep ${seconds} & sleep ${seconds}' &)`,
      "while :; do wait; sleep 0.1; done",
    ].join("\n");
    const { instanceId } = await world.runtime.start(runRequest(world, command));
    const children = await eventually(
      async () => processesWith(`sleep\0${seconds}`),
      ({ length }) => length >= 3,
    );
    expect(children).toHaveLength(3);
    await world.docker("pause", await world.containerOf(instanceId));
    const servers = [world.runtime, world.another(), world.another()];
    await Promise.all(servers.map((each) => each.remove(instanceId, { graceMs: 500 })));
    expect(processesWith(`sleep\0${seconds}`)).toEqual([]);
    expect(await world.runtime.list()).toEqual([]);
  });

  test.concurrent("a program that dies is restarted by the engine alone, at the same address", async () => {
    await using world = await dockerWorld(DOCKER_HOST, { watches: false });
    const started = await world.runtime.start(runRequest(world, world.programs.web));
    await answerOf(started);
    process.kill((await inspected(world, started.instanceId)).State.Pid, "SIGKILL");
    const again = await eventually(
      () => world.runtime.find(started.instanceId),
      (instance) => instance?.status === "running" && instance.restarts === 1,
    );
    expect(again).toMatchObject({ status: "running", restarts: 1, port: started.port, exit: null });
    expect(await answerOf(started)).toBe("hello");
    await world.docker("restart", "--time", "0", await world.containerOf(started.instanceId));
    expect(await answerOf(started)).toBe("hello");
    expect(await world.runtime.find(started.instanceId)).toMatchObject({ port: started.port });
  });
});

describe("DockerRuntime: a crash loop", () => {
  test.concurrent("recovers as soon as it can, without any server", async () => {
    await using world = await dockerWorld(DOCKER_HOST, { watches: false });
    const { instanceId } = await world.runtime.start(runRequest(world, afterFailures(7, world.programs.web, "/tmp")));
    // The engine's last backoff pauses are long enough to observe the failure.
    await whenFailing(world.runtime, instanceId);
    const back = await whenStatus(world.runtime, instanceId, "running");
    expect(back).toMatchObject({ restarts: 7, failing: false, nextStartAt: null, exit: null });
    expect(await answerOf(back!)).toBe("hello");
  });

  test.concurrent("that an earlier version gave up on is restarted by a server that supervises", async () => {
    await using world = await dockerWorld(DOCKER_HOST, { watches: false });
    const { instanceId } = await world.runtime.start(runRequest(world, world.programs.web));
    const container = await world.containerOf(instanceId);
    await world.docker("update", "--restart", "no", container);
    process.kill((await inspected(world, instanceId)).State.Pid, "SIGKILL");
    await whenStatus(world.runtime, instanceId, "exited");
    await world.runtime.supervise();
    expect(await whenStatus(world.runtime, instanceId, "running")).toMatchObject({ exit: null });
    expect((await inspected(world, instanceId)).HostConfig.RestartPolicy.Name).toBe("unless-stopped");
  });

  test.concurrent("caused by a lack of memory has that as its reason", async () => {
    await using world = await dockerWorld();
    const request = runRequest(world, world.programs.greedy, { memoryBytes: 64 * 1024 * 1024 });
    const { instanceId } = await world.runtime.start(request);
    expect(await whenFailing(world.runtime, instanceId)).toMatchObject({
      status: "restarting",
      exit: { code: 137, reason: "out_of_memory" },
    });
  });
});
