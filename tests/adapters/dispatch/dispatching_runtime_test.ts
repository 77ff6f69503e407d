import { describe, expect, test } from "bun:test";
import { DispatchingRuntime } from "../../../adapters/dispatch/dispatching_runtime.ts";
import { MemoryRuntime } from "../../../adapters/memory/runtime.ts";
import { Failure } from "../../../domain/failure.ts";
import type { Runnable, Runtime } from "../../../ports/services/runtime.ts";
import { runRequest } from "../../contracts/runtime.ts";

const FOLDER: Runnable = { kind: "folder", folder: "/releases/x", workingFolder: "/releases/x", command: "serve" };
const IMAGE: Runnable = { kind: "image", image: "sha256:0123", command: null, ports: [80] };

function open() {
  const folder = new MemoryRuntime();
  const image = new MemoryRuntime();
  return { folder, image, all: new DispatchingRuntime({ folder, image, answerMs: 50 }) };
}

const ids = async (runtime: Pick<Runtime, "list">) =>
  (await runtime.list()).map(({ instanceId }) => instanceId).toSorted();

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
