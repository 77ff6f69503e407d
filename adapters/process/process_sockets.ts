import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { ListeningSocket } from "../../domain/deployments/unreachable.ts";
import type { InstanceSockets } from "../../ports/services/instance_sockets.ts";
import { tcpListeners } from "../shared/tcp_table.ts";
import { InstanceFolder } from "./instance_folder.ts";
import { processTable, treeOf } from "./process_table.ts";
import { isInstanceId } from "./supervisor.ts";

/** Finds the ports that programs of a `ProcessRuntime` listen on, by the sockets that their processes hold. */
export class ProcessSockets implements InstanceSockets {
  readonly #folder: string;

  /** Takes the `instances` folder in the data folder. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async listening(instanceId: string): Promise<readonly ListeningSocket[] | undefined> {
    const launcher = isInstanceId(instanceId)
      ? new InstanceFolder(join(this.#folder, instanceId)).launcher()
      : undefined;
    if (launcher === undefined) return undefined;
    const pids = treeOf(launcher, processTable()).map(({ pid }) => pid);
    const held = await Promise.all(pids.map(socketsOf));
    if (held.every((inodes) => inodes === undefined)) return undefined;
    const own = new Set(held.flatMap((inodes) => inodes ?? []));
    const tables = await Promise.all(["tcp", "tcp6"].map((name) => textOf(`/proc/net/${name}`)));
    return tables
      .flatMap(tcpListeners)
      .filter(({ inode }) => own.has(inode))
      .map(({ address, port }) => ({ address, port }));
  }
}

/** Returns the inodes of a process's sockets, or `undefined` when the process is gone or its /proc entry unreadable. */
async function socketsOf(pid: number): Promise<readonly number[] | undefined> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => undefined);
  if (names === undefined) return undefined;
  const targets = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => "")));
  return targets.flatMap((target) => {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(target) ?? [];
    return inode === undefined ? [] : [Number(inode)];
  });
}

function textOf(file: string): Promise<string> {
  return readFile(file, "latin1").catch(() => "");
}
