import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listenersInside } from "../../../adapters/docker/containers/container_listening.ts";
import type { ContainerState } from "../../../adapters/docker/engine/containers.ts";

const ID = "7d1f".repeat(16);
const REST = "00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0";
/** The table of a program on 127.0.0.1:3000 in a container on a network with DNS. */
const TCP = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BB8 ${REST} 4711 1 0000000000000000 100 0 0 10 0
   1: 0B00007F:8F1D ${REST} 4712 1 0000000000000000 100 0 0 10 0
`;

/** A folder like the kernel's /proc with one process. */
async function procWith(cgroup: string): Promise<{ readonly proc: string } & AsyncDisposable> {
  const proc = await mkdtemp(join(tmpdir(), "slipway-proc-"));
  await mkdir(join(proc, "42/net"), { recursive: true });
  await writeFile(join(proc, "42/cgroup"), cgroup);
  await writeFile(join(proc, "42/net/tcp"), TCP);
  return { proc, [Symbol.asyncDispose]: () => rm(proc, { recursive: true }) };
}

const record = { Id: ID, State: { Pid: 42 } as ContainerState };

test("listenersInside() returns the listeners of a container, without the name server of its engine", async () => {
  await using seen = await procWith(`0::/system.slice/docker-${ID}.scope\n`);
  expect(await listenersInside(record, seen.proc)).toEqual([{ address: "127.0.0.1", port: 3000, inode: 4711 }]);
});

test("listenersInside() returns nothing for a process that is not of the container, or not visible", async () => {
  await using other = await procWith("0::/user.slice\n");
  expect(await listenersInside(record, other.proc)).toBeUndefined();
  expect(await listenersInside(record, "/no/such/folder")).toBeUndefined();
});
