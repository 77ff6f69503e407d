import { expect, test } from "bun:test";
import { MemoryDeployments } from "../../adapters/memory/deployments.ts";
import { MemoryEdge } from "../../adapters/memory/edge.ts";
import { MemoryLiveReleases } from "../../adapters/memory/live_releases.ts";
import { MemoryLog } from "../../adapters/memory/log.ts";
import { MemoryTables } from "../../adapters/memory/memory_tables.ts";
import { stopServing } from "../../application/deployments/stop_serving.ts";

/** Live releases of several processes, one of which may hang. */
class SeveralProcesses extends MemoryLiveReleases {
  hangs = false;

  override async followed(): Promise<boolean> {
    return !this.hangs;
  }
}

test("stopServing() warns when another process did not follow, and only then", async () => {
  const tables = new MemoryTables();
  const liveReleases = new SeveralProcesses(tables, new MemoryDeployments(tables));
  const log = new MemoryLog();
  const ports = { edge: new MemoryEdge(), liveReleases, log };
  await stopServing(ports, ["prj_1"]);
  expect(log.lines).toEqual([]);
  liveReleases.hangs = true;
  await stopServing(ports, []);
  expect(log.lines).toEqual([]);
  await stopServing(ports, ["prj_1", "dep_2"]);
  expect(log.lines).toEqual([{ level: "warn", text: expect.stringMatching(/restart the servers.*"prj_1, dep_2"/) }]);
});
