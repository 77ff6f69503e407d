import { join } from "node:path";
import { MemoryRuntime } from "../../adapters/memory/runtime.ts";
import { ProcessSockets } from "../../adapters/process/process_sockets.ts";
import type { SandboxKind } from "../../adapters/process/sandbox.ts";
import { instanceSocketsContract } from "../contracts/instance_sockets.ts";
import { processWorld, workingSandboxes } from "../support/apps/process_world.ts";
import { testPort } from "../support/servers/test_port.ts";

instanceSocketsContract("memory", async () => {
  const port = 9999;
  const runtime = new MemoryRuntime({
    web: { does: "answers" },
    silent: { does: "keeps_silent" },
    crashing: { does: "ends", code: 3 },
    elsewhere: { does: "keeps_silent", listens: [{ address: "127.0.0.1", port }] },
  });
  return {
    runtime,
    sockets: runtime,
    elsewhere: { command: "elsewhere", port },
    runs: (command) => ({ kind: "folder", folder: "/no/such/folder", workingFolder: "/no/such/folder", command }),
    programs: { web: "web", silent: "silent", crashing: "crashing" },
    async [Symbol.asyncDispose]() {
      for (const { instanceId } of await runtime.list()) await runtime.remove(instanceId);
    },
  };
});

for (const kind of await workingSandboxes()) instanceSocketsContract(`process (${kind})`, () => openProcesses(kind));

async function openProcesses(kind: SandboxKind) {
  const world = await processWorld(kind);
  const held = testPort();
  const program = `Bun.serve({ hostname: "127.0.0.1", port: ${held.port}, fetch: () => new Response("here") })`;
  return {
    ...world,
    sockets: new ProcessSockets(join(world.data, "instances")),
    // It listens in a child of the shell, like programs that a package manager starts.
    elsewhere: { command: `bun -e '${program}'; true`, port: held.port },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      held[Symbol.dispose]();
    },
  };
}
