import { join } from "node:path";
import { ConsoleLog } from "../adapters/console/log.ts";
import type { EdgeProcessSettings } from "../adapters/edge/separate/edge_note.ts";
import { runEdge } from "../adapters/edge/separate/edge_process.ts";
import { Failure } from "../domain/failure.ts";

// The edge as a separate process: serves deployed apps by the routes a server sends it, and keeps running without the
// server.
const [file = "", settings = "{}"] = process.argv.slice(2);
using log = new ConsoleLog({ level: "info", format: "json", print: (text) => void process.stderr.write(text) });
// It belongs to no terminal, and ends only on request.
for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
try {
  const script = join(import.meta.dir, "edge_thread.ts");
  await runEdge(file, { settings: JSON.parse(settings) as EdgeProcessSettings, script, log });
  process.exit(0);
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  process.stderr.write(`slipway: ${error.message}\n`);
  process.exit(1);
}
