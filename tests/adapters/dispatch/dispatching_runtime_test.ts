import { describe, expect, test } from "bun:test";
import { DispatchingRuntime } from "../../../adapters/dispatch/dispatching_runtime.ts";
import { EndingHandlers } from "../../../adapters/shared/ending_handlers.ts";
import { MemoryRuntime } from "../../../adapters/memory/runtime.ts";
import { Failure } from "../../../domain/failure.ts";
import type { InstanceListOptions, Runnable, Runtime } from "../../../ports/services/runtime.ts";
import { runRequest } from "../../contracts/runtime.ts";

const FOLDER: Runnable = { kind: "folder", folder: "/releases/x", workingFolder: "/releases/x", command: "serve" };
const IMAGE: Runnable = { kind: "image", image: "sha256:0123", command: null, ports: [80] };

function open() {
  const folder = new MemoryRuntime();
  const image = new MemoryRuntime();
  return { folder, image, all: new DispatchingRuntime({ folder, image, answerMs: 50 }) };
}

const ids = async (runtime: Pick<Runtime, "list">, options: InstanceListOptions = {}) =>
  (await runtime.list(options)).map(({ instanceId }) => instanceId).toSorted();

const AWAY = new Failure("unavailable", "engine_away", "Cannot use the engine");
const FOLDER_ID = "dep_1-app-1";
const LOCAL_ID = "dep_2-app-1-c";
const ONE_ID = "dep_3-app-1-srv_1-c";
const TWO_ID = "dep_4-app-1-srv_2-c";

/** A runtime of two servers beside this machine, with an instance in every place. */
async function openServers() {
  const [folder, image] = [new MemoryRuntime(), new MemoryRuntime()];
  const runtimes: Record<string, MemoryRuntime> = { srv_1: new MemoryRuntime(), srv_2: new MemoryRuntime() };
  const endings = new EndingHandlers();
  const servers = {
    of: (serverId: string) => ({ runtime: runtimes[serverId]! }),
    used: ["srv_1", "srv_2"],
    inUse: async () => servers.used,
    onEnding: (handler: (instanceId: string) => void) => endings.add(handler),
  };
  const all = new DispatchingRuntime({ folder, image, servers, answerMs: 50 });
  await all.start(runRequest({ runs: () => FOLDER }, "", { instanceId: FOLDER_ID }));
  for (const instanceId of [LOCAL_ID, ONE_ID, TWO_ID]) {
    await all.start(runRequest({ runs: () => IMAGE }, "", { instanceId }));
  }
  const [one, two] = [runtimes["srv_1"]!, runtimes["srv_2"]!];
  return {
    folder,
    image,
    one,
    two,
    all,
    endings,
    servers,
    async [Symbol.asyncDispose]() {
      for (const runtime of [folder, image, one, two]) {
        for (const instanceId of [FOLDER_ID, LOCAL_ID, ONE_ID, TWO_ID]) await runtime.remove(instanceId);
      }
    },
  };
}

describe("DispatchingRuntime", () => {
  test("start() passes folders and images to their own runtimes, and list() returns both", async () => {
    const { folder, image, all } = open();
    await all.start(runRequest({ runs: () => FOLDER }, "", { instanceId: "dep_1-app-1" }));
    await all.start(runRequest({ runs: () => IMAGE }, "", { instanceId: "dep_2-app-1-c" }));
    expect(await ids(folder)).toEqual(["dep_1-app-1"]);
    expect(await ids(image)).toEqual(["dep_2-app-1-c"]);
    expect(await ids(all)).toEqual(["dep_1-app-1", "dep_2-app-1-c"]);
    expect((await all.find("dep_2-app-1-c"))?.image).toBe("sha256:0123");
    expect((await all.find("dep_1-app-1"))?.image).toBeNull();
    expect((await all.restart("dep_2-app-1-c", { graceMs: 0 })).restarts).toBe(1);
    await all.introduce("dep_2-app-1-c");
    await all.introduce("dep_1-app-1");
    expect(await all.usage("dep_2-app-1-c")).toBeDefined();
    expect(await all.output("dep_2-app-1-c", { since: 0, limit: 10 })).toEqual([]);
    await all.remove("dep_2-app-1-c", { graceMs: 0 });
    await all.remove("dep_1-app-1", { graceMs: 0 });
    expect(await ids(all)).toEqual([]);
  });

  test("list() succeeds without an engine, and passes on any other failure", async () => {
    const { folder, image, all } = open();
    await all.start(runRequest({ runs: () => FOLDER }, "", { instanceId: "dep_1-app-1" }));
    image.list = () => Promise.reject(new Failure("unavailable", "engine_away", "Cannot use Docker"));
    expect(await ids(all)).toEqual(["dep_1-app-1"]);
    image.list = () => new Promise(() => {});
    expect(await ids(all)).toEqual(["dep_1-app-1"]);
    image.list = () => Promise.reject(new Error("a bug"));
    expect(await all.list().catch((error: Error) => error.message)).toBe("a bug");
    await folder.remove("dep_1-app-1", { graceMs: 0 });
  });

  test("list() of all waits for the engine, and fails without one", async () => {
    const { image, all } = open();
    await all.start(runRequest({ runs: () => IMAGE }, "", { instanceId: "dep_2-app-1-c" }));
    const there = await image.list();
    const slow = Promise.withResolvers<typeof there>();
    image.list = () => slow.promise;
    expect(await ids(all)).toEqual([]);
    const listing = all.list({ all: true });
    slow.resolve(there);
    expect(await listing).toEqual(there);
    image.list = () => Promise.reject(new Failure("unavailable", "engine_away", "Cannot use Docker"));
    expect(await all.list({ all: true }).catch((error: Failure) => error.code)).toBe("engine_away");
    await image.remove("dep_2-app-1-c", { graceMs: 0 });
  });
});

describe("DispatchingRuntime with servers", () => {
  test("start() and every method of an instance use the runtime of the server that its id names", async () => {
    await using world = await openServers();
    const { folder, image, one, two, all } = world;
    const there = await Promise.all([folder, image, one, two].map((runtime) => ids(runtime)));
    expect(there).toEqual([[FOLDER_ID], [LOCAL_ID], [ONE_ID], [TWO_ID]]);
    one.print(ONE_ID, "on one");
    two.print(TWO_ID, "on two");
    const printed = async (id: string) => (await all.output(id, { since: 0, limit: 10 })).map(({ message }) => message);
    expect([await printed(ONE_ID), await printed(TWO_ID)]).toEqual([["on one"], ["on two"]]);
    expect((await all.restart(ONE_ID, { graceMs: 0 })).restarts).toBe(1);
    expect([(await one.find(ONE_ID))?.restarts, (await all.find(TWO_ID))?.restarts]).toEqual([1, 0]);
    await all.introduce(TWO_ID);
    expect(await all.usage(ONE_ID)).toBeDefined();
    await all.remove(ONE_ID, { graceMs: 0 });
    expect([await ids(one), await ids(two), await ids(image)]).toEqual([[], [TWO_ID], [LOCAL_ID]]);
  });

  test("list() returns what runs everywhere, on one server, or on this machine", async () => {
    await using world = await openServers();
    const { all, servers } = world;
    expect(await ids(all)).toEqual([FOLDER_ID, LOCAL_ID, ONE_ID, TWO_ID]);
    expect(await ids(all, { server: "srv_1" })).toEqual([ONE_ID]);
    expect(await ids(all, { server: "srv_2", all: true })).toEqual([TWO_ID]);
    expect(await ids(all, { server: null })).toEqual([FOLDER_ID, LOCAL_ID]);
    expect(await ids(all, { containers: false })).toEqual([FOLDER_ID]);
    servers.used = ["srv_2"];
    expect(await ids(all)).toEqual([FOLDER_ID, LOCAL_ID, TWO_ID]);
    expect(await ids(all, { server: "srv_1" })).toEqual([ONE_ID]);
  });

  test("list() lists servers even if nothing ever ran in a container of this machine", async () => {
    await using world = await openServers();
    const { folder, image, servers } = world;
    const all = new DispatchingRuntime({ folder, image, servers, usesContainers: () => Promise.resolve(false) });
    expect(await ids(all)).toEqual([FOLDER_ID, ONE_ID, TWO_ID]);
    expect(await ids(all, { server: null })).toEqual([FOLDER_ID]);
  });

  test.each([
    ["is away", () => Promise.reject(AWAY)],
    ["never answers", () => new Promise<never>(() => {})],
  ])("list() leaves out a server that %s, and everything else stays visible", async (_, list) => {
    await using world = await openServers();
    const { all, image, one } = world;
    one.list = list;
    expect(await ids(all)).toEqual([FOLDER_ID, LOCAL_ID, TWO_ID]);
    expect(await ids(all, { server: "srv_1" })).toEqual([]);
    expect(await ids(all, { server: "srv_2", all: true })).toEqual([TWO_ID]);
    expect(await ids(all, { server: null, all: true })).toEqual([FOLDER_ID, LOCAL_ID]);
    image.list = list;
    expect(await ids(all)).toEqual([FOLDER_ID, TWO_ID]);
  });

  test("list() of all rejects while a server that it covers is away, and find() of an instance there too", async () => {
    await using world = await openServers();
    const { all, one } = world;
    one.list = () => Promise.reject(AWAY);
    one.find = () => Promise.reject(AWAY);
    for (const options of [{ all: true }, { all: true, server: "srv_1" }]) {
      await expect(all.list(options)).rejects.toBe(AWAY);
    }
    await expect(all.find(ONE_ID)).rejects.toBe(AWAY);
    expect(await all.find(TWO_ID)).toBeDefined();
    one.list = () => Promise.reject(new Error("a bug"));
    await expect(all.list()).rejects.toThrow("a bug");
  });

  test("onEnding() reports endings on servers, until it is stopped", async () => {
    await using world = await openServers();
    const { all, endings, image } = world;
    const ended: string[] = [];
    const stop = all.onEnding((instanceId) => ended.push(instanceId));
    endings.notify(ONE_ID);
    image.scripts.set("sha256:0123", { does: "ends", code: 1 });
    await image.restart(LOCAL_ID);
    expect(ended).toEqual([ONE_ID, LOCAL_ID]);
    stop();
    endings.notify(ONE_ID);
    expect(ended).toHaveLength(2);
  });
});
