import { parentPort, workerData } from "node:worker_threads";
import { ConsoleLog } from "../adapters/console/log.ts";
import type { EdgeProcessSettings } from "../adapters/edge/separate/edge_note.ts";
import { serveThread } from "../adapters/edge/separate/edge_thread.ts";

// A thread of the edge process, beside its main one.
const log = new ConsoleLog({ level: "info", format: "json", print: (text) => void process.stderr.write(text) });
if (parentPort) await serveThread(parentPort, workerData as EdgeProcessSettings, log);
