import { setDefaultTimeout } from "bun:test";
import { MemoryRuntime } from "../../adapters/memory/runtime.ts";
import { processWorld, workingSandboxes } from "../support/process_world.ts";
import { runtimeContract } from "../contracts/runtime.ts";

// The disk and the processors may be busy with other suites.
setDefaultTimeout(30_000);

const respond = () => new Response("hello");
const words = ["one", "two", "three", "four", "five"];

runtimeContract("memory", async () => ({
  runtime: new MemoryRuntime({
    web: { does: "answers", respond, prints: ["started"] },
    talking: { does: "answers", respond, prints: words },
    crashing: { does: "ends", code: 3 },
    silent: { does: "keeps_silent" },
    greedy: { does: "takes_all_memory" },
    stubborn: { does: "answers", respond },
  }),
  runs: (command) => ({ kind: "folder", folder: "/no/such/folder", workingFolder: "/no/such/folder", command }),
  programs: {
    web: "web",
    talking: "talking",
    crashing: "crashing",
    silent: "silent",
    greedy: "greedy",
    stubborn: "stubborn",
  },
  async [Symbol.asyncDispose]() {},
}));

for (const kind of await workingSandboxes()) runtimeContract(`process (${kind})`, () => processWorld(kind));
