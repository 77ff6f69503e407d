import { newId } from "../../../domain/id.ts";
import { Secret } from "../../../domain/secret.ts";
import type { SandboxKind } from "../../../adapters/process/sandbox.ts";
import { runtimeOn } from "./process_world.ts";

// A separate process that supervises a data folder and starts the given commands. It prints the instances, then runs
// until killed.
const [data = "", kind = "plain", folder = "", ...commands] = process.argv.slice(2);
const runtime = runtimeOn(data, kind as SandboxKind);
await runtime.supervise();
const instances = [];
for (const command of commands) {
  const request = {
    instanceId: newId("dep"),
    deploymentId: "dep_1",
    projectId: "prj_1",
    service: "app",
    scope: "prj_1",
    runs: { kind: "folder" as const, folder, workingFolder: folder, command },
    environment: new Map([["GREETING", new Secret("hello")]]),
  };
  instances.push(await runtime.start(request));
}
process.stdout.write(`${JSON.stringify(instances)}\n`);
setInterval(() => {}, 60_000);
