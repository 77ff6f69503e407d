import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { inspect } from "node:util";
import type { FoundContainer, Inventory } from "../../domain/migration/inventory.ts";
import type { ServerConnection } from "../../ports/servers/server_connections.ts";
import type { ServerStage, StagedContainer } from "./server_stage.ts";

const CANARY = "hunter2-canary";

type Open = () => Promise<ServerStage>;

/** The engine under test, and what makes containers in it that are removed after each test. */
interface Engine {
  create(container: StagedContainer): Promise<string>;
  remove(name: string): Promise<void>;
  read(): Promise<Inventory>;
  readonly address: string;
  readonly stage: ServerStage;
}

/** Contract tests for `EngineInventories` adapters. */
export function engineInventoriesContract(name: string, open: Open) {
  describe(`EngineInventories contract: ${name}`, () => {
    let stage: ServerStage;
    let connection: ServerConnection;
    const created = new Set<string>();
    const engine: Engine = {
      create(container) {
        created.add(container.name);
        return stage.createContainer(container);
      },
      async remove(container) {
        created.delete(container);
        await stage.removeContainer(container);
      },
      read: () => stage.inventories.read(connection.engineAddress),
      get address() {
        return connection.engineAddress;
      },
      get stage() {
        return stage;
      },
    };
    beforeAll(async () => {
      stage = await open();
      connection = await stage.connections.open(stage.worker);
    });
    afterEach(async () => {
      for (const container of created) await engine.remove(container);
    });
    afterAll(async () => {
      await connection?.[Symbol.asyncDispose]();
      await stage?.[Symbol.asyncDispose]();
    });
    describe("read()", () => containerTests(engine));
    describe("read() reports", () => factTests(engine));
    describe("read() rejects", () => refusalTests(engine));
  });
}

function containerTests(engine: Engine) {
  test("lists all containers by name, running or not", async () => {
    await engine.create({ name: "b-created" });
    const id = await engine.create({ name: "a-running", isStarted: true });
    const { containers, runtime, unread } = await engine.read();
    expect(containers.map(({ name, state }) => [name, state])).toEqual([
      ["a-running", "running"],
      ["b-created", "created"],
    ]);
    expect(containers[0]).toMatchObject({ id, restarts: 0, startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });
    expect(id).toMatch(/^[0-9a-f]{64}$/);
    expect(runtime).toEqual({ name: "docker", version: expect.stringMatching(/^\d+\.\d+/) });
    expect(unread).toEqual([]);
  });

  test("returns the same again, so reading changes nothing", async () => {
    await engine.create({ name: "same", isStarted: true });
    const first = await engine.read();
    expect(await engine.read()).toEqual(first);
  });

  test("names each container that disappears meanwhile at most once", async () => {
    const names = Array.from({ length: 6 }, (_, index) => `leaving-${index}`);
    for (const name of names) await engine.create({ name });
    const [{ containers, unread }] = await Promise.all([engine.read(), ...names.map((name) => engine.remove(name))]);
    const seen = [...containers, ...unread].map(({ name }) => name);
    for (const name of seen) expect(names).toContain(name);
    expect(new Set(seen).size).toBe(seen.length);
    expect((await engine.read()).containers).toEqual([]);
  });

  test("tells how far it is", async () => {
    await engine.create({ name: "alone" });
    const told: string[] = [];
    await engine.stage.inventories.read(engine.address, { progress: (sentence) => told.push(sentence) });
    expect(told[0]).toContain("1 container");
  });

  test("shows no value of a variable and no recipe by accident", async () => {
    await engine.create({ name: "secretive", environment: { PASSWORD: CANARY }, command: ["sleep", CANARY] });
    const { containers } = await engine.read();
    const { command: _, ...rest } = containers[0]!;
    expect(inspect(rest, { depth: 10 }) + JSON.stringify(rest)).not.toContain(CANARY);
    expect(containers[0]!.environment.get("PASSWORD")!.reveal()).toBe(CANARY);
  });
}

function factTests(engine: Engine) {
  const one = async (container: Omit<StagedContainer, "name">): Promise<FoundContainer> => {
    await engine.create({ name: "subject", ...container });
    return (await engine.read()).containers[0]!;
  };

  test("the image, and what it brings along", async () => {
    const { image, imageFacts, imageId } = await one({});
    expect(image).toBe("tiny:latest");
    expect(imageId).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(imageFacts).toMatchObject({ tags: ["tiny:latest"], entrypoint: [], hasHealthcheck: false, volumes: [] });
    expect(imageFacts!.environment.get("PATH")!.reveal()).toBe("/bin");
    expect(imageFacts!.command.length).toBeGreaterThan(0);
  });

  test("command, variables and labels exactly", async () => {
    const environment = { GREETING: "a=b $A $$B 'x' \"y\"\nsecond line", EMPTY: "", ÜMLAUT: "日本" };
    const labels = { "com.docker.compose.project": "shop", odd: "<b>&\u0007\n", empty: "" };
    const found = await one({ command: ["sh", "-c", "echo $0", ""], environment, labels });
    expect(found.command).toEqual(["sh", "-c", "echo $0", ""]);
    const values = new Map([...found.environment].map(([key, value]) => [key, value.reveal()]));
    expect(values).toEqual(new Map(Object.entries({ ...environment, PATH: "/bin" })));
    expect(found.labels).toEqual(labels);
  });

  test("ports that are published and ports that are only declared", async () => {
    const { ports } = await one({ exposed: 9000, published: { address: "127.0.0.1", outside: 18_080, inside: 80 } });
    expect(ports.toSorted((a, b) => a.port - b.port)).toEqual([
      { port: 80, protocol: "tcp", published: { address: "127.0.0.1", port: 18_080 } },
      { port: 9000, protocol: "tcp", published: null },
    ]);
  });

  test("mounts: volumes with and without a name, paths, memory", async () => {
    await engine.stage.createVolume("shop_data");
    await engine.stage.writeFile("/srv/mounted/file", "");
    const { mounts } = await one({
      mounts: [
        { source: "shop_data", target: "/data" },
        { source: "/srv/mounted", target: "/etc/shop", readOnly: true },
      ],
      anonymousVolume: "/cache",
      memoryMount: "/scratch",
    });
    const byTarget = Object.fromEntries(mounts.map((mount) => [mount.target, mount]));
    expect(byTarget["/data"]).toMatchObject({ type: "volume", source: "shop_data", readOnly: false, anonymous: false });
    expect(byTarget["/etc/shop"]).toMatchObject({ type: "bind", source: "/srv/mounted", readOnly: true });
    expect(byTarget["/cache"]).toMatchObject({ type: "volume", readOnly: false, anonymous: true });
    expect(byTarget["/cache"]!.source).toMatch(/^[0-9a-f]{64}$/);
    expect(byTarget["/scratch"]).toMatchObject({ type: "tmpfs", source: "" });
    expect(mounts).toHaveLength(4);
    const { volumes } = await engine.read();
    expect(volumes).toContainEqual({ name: "shop_data", driver: "local", labels: {} });
  });

  test("networks with the aliases and addresses that were requested", async () => {
    await engine.stage.createNetwork("shop_net", "10.123.45.0/24");
    const network = { name: "shop_net", alias: "backend", address: "10.123.45.67" };
    const { networkMode, networks } = await one({ network, isStarted: true });
    expect(networkMode).toBe("shop_net");
    expect(networks).toEqual([{ name: "shop_net", aliases: ["backend"], addresses: ["10.123.45.67"] }]);
    expect((await engine.read()).networks).toContainEqual({ name: "shop_net", driver: "bridge", labels: {} });
  });

  test("restart policy, health check and limits", async () => {
    const found = await one({ restart: "on-failure:3", healthCommand: "test -e /tmp", memoryMiB: 64 });
    expect(found.restart).toBe("on-failure:3");
    expect(found.healthcheck).toMatchObject({ test: ["CMD-SHELL", "test -e /tmp"], intervalMs: 7_000, retries: null });
    expect(found.limits).toEqual({ memoryBytes: 67_108_864, cpus: null });
    expect(found).toMatchObject({ privileges: [], removedAtEnd: false });
  });

  test("privileges, and that the engine removes it when it ends", async () => {
    const found = await one({ isPrivileged: true, isRemovedAtEnd: true });
    expect(found.privileges).toContain("privileged");
    expect(found.removedAtEnd).toBe(true);
  });

  test("nothing for what was not asked for", async () => {
    const found = await one({});
    expect(found).toMatchObject({ restart: "no", healthcheck: null, mounts: [], ports: [], labels: {} });
    expect(found.limits).toEqual({ memoryBytes: null, cpus: null });
    expect([...found.environment.keys()]).toEqual(["PATH"]);
  });
}

function refusalTests(engine: Engine) {
  test("where no engine answers", async () => {
    const reading = engine.stage.inventories.read(engine.stage.deadAddress);
    await expect(reading).rejects.toMatchObject({ kind: "unavailable", code: "engine_away" });
  });

  test("with the reason of its signal", async () => {
    const signal = AbortSignal.abort(new Error("over"));
    await expect(engine.stage.inventories.read(engine.address, { signal })).rejects.toThrow("over");
  });
}
