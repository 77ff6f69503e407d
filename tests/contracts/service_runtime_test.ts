import { MemoryRuntime } from "../../adapters/memory/runtime.ts";
import { serviceRuntimeContract } from "./service_runtime.ts";

serviceRuntimeContract("memory", async () => {
  const runtime = new MemoryRuntime({
    answering: { does: "answers", respond: (_, inside) => new Response(`${inside}`) },
    working: { does: "keeps_silent" },
    migrating: { does: "ends", code: 0, prints: ["migrated"] },
    failing: { does: "ends", code: 4, prints: ["broken"] },
    well: { does: "keeps_silent" },
    unwell: { does: "keeps_silent", health: () => "unhealthy" },
  });
  const { volumes } = runtime;
  const scopes = (instanceId: string) => runtime.started.find((request) => request.instanceId === instanceId)!.scope;
  return {
    runtime,
    volumes,
    image: "sha256:0",
    programs: {
      answering: "answering",
      working: "working",
      migrating: "migrating",
      failing: "failing",
      well: "well",
      unwell: "unwell",
    },
    found: async (askedBy, name) => runtime.named(scopes(askedBy), name).toSorted(),
    engineName: async (volume) => volumes.engineName(volume),
    async makeExternal() {
      volumes.external.add("external");
      return "external";
    },
    async [Symbol.asyncDispose]() {
      for (const { instanceId } of await runtime.list()) await runtime.remove(instanceId);
    },
  };
});
