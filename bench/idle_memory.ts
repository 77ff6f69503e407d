import { readFile } from "node:fs/promises";
import { printed, startServer, stop } from "./process.ts";
import type { Result } from "./run.ts";
import { tempFolder } from "./temp_folder.ts";

const SETTLE_MS = 5_000;
const LIMIT_MB = 150;

/** Memory (RSS) of the server process some seconds after its start and a few requests, as a fraction of the limit. */
export async function idleMemory(): Promise<Result> {
  await using folder = await tempFolder();
  const slipway = startServer({ PORT: "0", SLIPWAY_DATA: folder.path });
  try {
    const port = (await printed(slipway, /API +http:\/\/127\.0\.0\.1:(\d+)/))[1];
    for (const path of ["/api/health", "/api/openapi.json", "/api/docs"])
      await fetch(`http://127.0.0.1:${port}${path}`);
    await Bun.sleep(SETTLE_MS);
    const status = await readFile(`/proc/${slipway.pid}/status`, "utf8");
    const megabytes = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
    return { ratio: megabytes / LIMIT_MB, details: `${megabytes.toFixed(0)} MB of ${LIMIT_MB} MB at most` };
  } finally {
    await stop(slipway);
  }
}
