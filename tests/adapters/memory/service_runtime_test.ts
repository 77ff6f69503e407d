import { describe, expect, test } from "bun:test";
import { MemoryRuntime } from "../../../adapters/memory/runtime.ts";
import { MemoryServiceNetworks } from "../../../adapters/memory/service_networks.ts";
import type { RunnableImage, RunRequest } from "../../../ports/services/runtime.ts";
import { whenStatus } from "../../contracts/runtime.ts";
import { serviceNetworksContract, type ServiceNetworksForContract } from "../../contracts/service_networks.ts";
import { serviceRequest, serviceRuntimeContract } from "../../contracts/service_runtime.ts";
import { volumesContract } from "../../contracts/volumes.ts";

async function openMemory(): Promise<ServiceNetworksForContract> {
  const runtime = new MemoryRuntime({
    answering: { does: "answers", respond: (_, inside) => new Response(`${inside}`) },
    working: { does: "keeps_silent" },
    migrating: { does: "ends", code: 0, prints: ["migrated"] },
    failing: { does: "ends", code: 4, prints: ["broken"] },
    well: { does: "keeps_silent" },
    unwell: { does: "keeps_silent", health: () => "unhealthy" },
  });
  const { volumes } = runtime;
  const serviceNetworks = new MemoryServiceNetworks(runtime);
  const scopes = (instanceId: string) => runtime.started.find((request) => request.instanceId === instanceId)!.scope;
  return {
    runtime,
    volumes,
    serviceNetworks,
    networksOf: async (scope) => ((await serviceNetworks.has(scope)) ? 1 : 0),
    image: "sha256:0",
    programs: {
      answering: "answering",
      working: "working",
      migrating: "migrating",
      failing: "failing",
      well: "well",
      unwell: "unwell",
    },
    found: async (instanceId, name) => runtime.named(scopes(instanceId), name).toSorted(),
    engineName: async (volume) => volumes.engineName(volume),
    async makeExternal() {
      volumes.external.add("external");
      return "external";
    },
    write: async (volume, _, bytes) => void volumes.sizes.set(volumes.engineName(volume), bytes),
    async [Symbol.asyncDispose]() {
      for (const { instanceId } of await runtime.list()) await runtime.remove(instanceId);
    },
  };
}

serviceRuntimeContract("memory", openMemory);
serviceNetworksContract("memory", openMemory);
volumesContract("memory", openMemory);

function imageRequest(service: string, image: string, given: Partial<RunRequest<RunnableImage>> = {}) {
  return serviceRequest({ image }, null, { service, ...given });
}

describe("MemoryRuntime", () => {
  test("start() runs the script of the service, command or image, in this order, and records the request", async () => {
    const runtime = new MemoryRuntime({
      "service:db": { does: "keeps_silent", prints: ["service"] },
      "run me": { does: "keeps_silent", prints: ["command"] },
      "sha256:1": { does: "keeps_silent", prints: ["image"] },
    });
    const command = serviceRequest({ image: "sha256:1" }, null, { container: { command: ["run", "me"] } });
    const requests = [
      imageRequest("db", "sha256:1"),
      command,
      imageRequest("web", "sha256:1"),
      imageRequest("web", "sha256:2"),
    ];
    for (const each of requests) await runtime.start(each);
    const printed = await Promise.all(
      requests.map(async ({ instanceId }) => (await runtime.output(instanceId, { since: 0, limit: 1 }))[0]?.message),
    );
    expect(printed).toEqual(["service", "command", "image", undefined]);
    expect(runtime.started).toEqual(requests);
  });

  test("start() of a one-shot without a script succeeds, and one that ends later runs until then", async () => {
    const { promise: after, resolve } = Promise.withResolvers<void>();
    const runtime = new MemoryRuntime({ "service:slow": { does: "ends", code: 5, after } });
    const [quick, slow] = [imageRequest("quick", "x", { oneShot: true }), imageRequest("slow", "x", { oneShot: true })];
    expect(await runtime.start(quick)).toMatchObject({ status: "exited", exit: { code: 0, reason: "exited" } });
    expect(await runtime.start(slow)).toMatchObject({ status: "running", exit: null });
    resolve();
    expect(await whenStatus(runtime, slow.instanceId, "exited")).toMatchObject({ exit: { code: 5, reason: "exited" } });
  });
});
