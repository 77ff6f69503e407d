import { MemoryRuntime } from "../../adapters/memory/runtime.ts";
import { processWorld, workingSandboxes } from "../support/apps/process_world.ts";
import { type RuntimeForContract, runtimeContract } from "../contracts/runtime.ts";
import { runtimeRemovalContract } from "../contracts/runtime_removal.ts";

const respond = () => new Response("hello");
const words = ["one", "two", "three", "four", "five"];

async function openMemory(): Promise<RuntimeForContract> {
  return {
    runtime: new MemoryRuntime({
      web: { does: "answers", respond, prints: ["started"] },
      talking: { does: "answers", respond, prints: words },
      crashing: { does: "ends", code: 3 },
      silent: { does: "keeps_silent" },
      greedy: { does: "takes_all_memory" },
      stubborn: { does: "answers", respond },
      polite: { does: "answers", respond, prints: ["started"], lastWords: ["bye", "for good"] },
    }),
    runs: (command) => ({ kind: "folder", folder: "/no/such/folder", workingFolder: "/no/such/folder", command }),
    programs: {
      web: "web",
      talking: "talking",
      crashing: "crashing",
      silent: "silent",
      greedy: "greedy",
      stubborn: "stubborn",
      polite: "polite",
    },
    async [Symbol.asyncDispose]() {},
  };
}

runtimeContract("memory", openMemory);
runtimeRemovalContract("memory", openMemory);

for (const kind of await workingSandboxes()) {
  runtimeContract(`process (${kind})`, () => processWorld(kind));
  runtimeRemovalContract(`process (${kind})`, () => processWorld(kind));
}
