import type { SandboxKind } from "../../../adapters/process/sandbox.ts";
import { builderOn } from "./process_world.ts";

// A separate process that runs a given build command and prints its output.
const [data = "", kind = "plain", folder = "", command = ""] = process.argv.slice(2);
await builderOn(data, kind as SandboxKind).build({
  deploymentId: "dep_1",
  folder,
  workingFolder: folder,
  commands: [{ name: "build", command }],
  environment: new Map(),
  signal: new AbortController().signal,
  log: (line) => void process.stdout.write(`${line}\n`),
});
