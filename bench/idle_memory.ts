import { readdir, readFile } from "node:fs/promises";
import { printed, startServer, stop } from "./process.ts";
import type { Result } from "./run.ts";
import { tempFolder } from "./temp_folder.ts";

const SETTLE_MS = 5_000;
const LIMIT_MB = 110;

/**
 * Memory of the server and its database together some seconds after a start and a few requests, as a fraction of the
 * limit. Memory that processes share counts once (PSS).
 */
export async function idleMemory(): Promise<Result> {
  await using folder = await tempFolder();
  const slipway = startServer({ PORT: "0", SLIPWAY_DATA: folder.path });
  try {
    const port = (await printed(slipway, /API +http:\/\/127\.0\.0\.1:(\d+)/))[1];
    for (const path of ["/api/health", "/api/openapi.json", "/api/docs"])
      await fetch(`http://127.0.0.1:${port}${path}`);
    await Bun.sleep(SETTLE_MS);
    const server = await megabytesOf(slipway.pid);
    const database = (await Promise.all((await descendants(slipway.pid)).map(megabytesOf))).reduce((a, b) => a + b, 0);
    const both = server + database;
    return {
      ratio: both / LIMIT_MB,
      details: `${both.toFixed(0)} MB of ${LIMIT_MB} MB at most: server ${server.toFixed(0)} MB, database ${database.toFixed(0)} MB`,
    };
  } finally {
    await stop(slipway);
  }
}

async function megabytesOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024;
}

/** The processes that a process started, and those that these started. */
async function descendants(pid: number): Promise<readonly number[]> {
  const all = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(
    all.map(async (id) =>
      Number((await readFile(`/proc/${id}/stat`, "utf8").catch(() => "")).split(") ")[1]?.split(" ")[1]),
    ),
  );
  const children = all.filter((_, at) => parents[at] === pid);
  return [...children, ...(await Promise.all(children.map(descendants))).flat()];
}
