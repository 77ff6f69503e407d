import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DockerEngineInventories } from "../../../adapters/docker/inventory/engine_inventories.ts";
import { changed, INSPECTED, INSPECTED_IMAGE } from "../../support/inputs/inspected.ts";

type Answer = (path: string) => Response | Promise<Response>;

const inventories = new DockerEngineInventories();
const VERSION = { Version: "28.3.0", Components: [{ Name: "Engine" }] };
const refused = (message: string, status: number) => Response.json({ message }, { status });

/** A fake engine that answers by path without its version, and lists what was requested. */
async function engine(answer: Answer) {
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  const socket = join(folder, "engine.sock");
  const requests: string[] = [];
  const server = Bun.serve({
    unix: socket,
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      const path = pathname.replace(/^\/v1\.\d+/, "");
      requests.push(`${request.method} ${path}${search}`);
      return answer(path);
    },
  });
  const dispose = async () => {
    await server.stop(true);
    await rm(folder, { recursive: true });
  };
  return { address: `unix://${socket}`, requests, [Symbol.asyncDispose]: dispose };
}

/** Answers with these containers, by id; any other path gets what `special` says. */
function answers(ids: readonly string[], special: (path: string) => Response | undefined = () => undefined): Answer {
  return (path) => {
    const own = special(path);
    if (own) return own;
    const id = /^\/containers\/([^/]+)\/json$/.exec(path)?.[1];
    if (path === "/version") return Response.json(VERSION);
    if (path === "/containers/json") return Response.json(ids.map((Id) => ({ Id, Names: [`/name-${Id}`] })));
    if (path === "/volumes") return Response.json({ Volumes: null });
    if (path === "/networks") return Response.json([{ Name: "bridge", Driver: "bridge", Labels: null }]);
    if (id !== undefined) return Response.json(changed(INSPECTED, [], { Id: id, Name: `/name-${id}` }));
    if (path.startsWith("/images/")) return Response.json(INSPECTED_IMAGE);
    return refused("page not found", 404);
  };
}

describe("DockerEngineInventories.read()", () => {
  test("only reads, and asks once for an image that many containers have", async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `c${index}`);
    await using fake = await engine(answers(ids));
    const told: string[] = [];
    const inventory = await inventories.read(fake.address, { progress: (sentence) => told.push(sentence) });
    expect(inventory.containers.map(({ name }) => name)).toEqual(ids.map((id) => `name-${id}`).toSorted());
    expect(inventory).toMatchObject({
      runtime: { name: "docker", version: "28.3.0" },
      volumes: [],
      networks: [{ name: "bridge", driver: "bridge", labels: {} }],
      unread: [],
    });
    expect(fake.requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
    expect(fake.requests.filter((request) => request.includes("/images/"))).toHaveLength(1);
    expect(fake.requests).toContain("GET /containers/json?all=true");
    expect(told).toEqual(["Found 60 containers", "Read 25 of 60 containers", "Read 50 of 60 containers"]);
  });

  test("recognises Podman", async () => {
    const podman = { Version: "5.2.0", Components: [{ Name: "Podman Engine" }] };
    await using fake = await engine(answers([], (path) => (path === "/version" ? Response.json(podman) : undefined)));
    expect((await inventories.read(fake.address)).runtime).toEqual({ name: "podman", version: "5.2.0" });
  });

  test("names containers that are gone, and those that cannot be read", async () => {
    await using fake = await engine(
      answers(["good", "gone", "broken"], (path) => {
        if (path === "/containers/gone/json") return refused("No such container", 404);
        return path === "/containers/broken/json" ? refused("layer does not exist", 500) : undefined;
      }),
    );
    const { containers, unread } = await inventories.read(fake.address);
    expect(containers.map(({ id }) => id)).toEqual(["good"]);
    expect(unread.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: "name-broken", reason: "layer does not exist" },
      { name: "name-gone", reason: "it was removed during the scan" },
    ]);
  });

  test("reads containers whose image is gone", async () => {
    await using fake = await engine(
      answers(["one"], (path) => (path.startsWith("/images/") ? refused("No such image", 404) : undefined)),
    );
    expect((await inventories.read(fake.address)).containers).toMatchObject([{ id: "one", imageFacts: null }]);
  });

  test("rejects when the engine refuses", async () => {
    await using fake = await engine(() => refused("denied by\u001b[31m plugin", 403));
    const failure = inventories.read(fake.address);
    await expect(failure).rejects.toMatchObject({ kind: "remote_failed", code: "engine_refused" });
    await expect(failure).rejects.toThrow('Cannot read the containers: the engine says "denied by [31m plugin"');
  });

  test.each<[string, string]>([
    ["text", "<html>"],
    ["nothing", ""],
    ["null", "null"],
    ["a number", "7"],
    ["another structure", '{"a":[[]]}'],
  ])("does not fail in an unexpected way on %s", async (_, text) => {
    await using fake = await engine(() => new Response(text, { headers: { "content-type": "application/json" } }));
    const outcome = await inventories.read(fake.address).catch((error: unknown) => error);
    if (outcome instanceof Error) expect(outcome).toMatchObject({ name: "Failure" });
    else expect(outcome).toMatchObject({ containers: [], unread: [] });
  });

  test("rejects with the reason of its signal, also while it waits", async () => {
    const leaving = new AbortController();
    const { promise: never } = Promise.withResolvers<Response>();
    await using fake = await engine((path) => {
      if (path !== "/version") return answers([])(path);
      leaving.abort(new Error("over"));
      return never;
    });
    await expect(inventories.read(fake.address, { signal: leaving.signal })).rejects.toThrow("over");
  });

  test("rejects where nothing answers", async () => {
    const reading = inventories.read("unix:///nowhere/engine.sock");
    await expect(reading).rejects.toMatchObject({ kind: "unavailable", code: "engine_away" });
  });
});
