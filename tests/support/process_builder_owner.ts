import { join } from "node:path";
import { ProcessBuilder } from "../../adapters/process/builder.ts";
import type { SandboxKind } from "../../adapters/process/sandbox.ts";

// A process of its own that builds with the command it is given, and prints what that prints.
const [data = "", kind = "plain", folder = "", command = ""] = process.argv.slice(2);
const options = { folder: join(data, "builds"), cacheFolder: join(data, "cache"), sandboxes: [kind as SandboxKind] };
await new ProcessBuilder(options).build({
  deploymentId: "dep_1",
  folder,
  workingFolder: folder,
  commands: [{ name: "build", command }],
  environment: new Map(),
  signal: new AbortController().signal,
  log: (line) => void process.stdout.write(`${line}\n`),
});
