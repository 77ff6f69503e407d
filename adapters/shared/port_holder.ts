import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { tcpListeners } from "./tcp_table.ts";

/**
 * Returns the program that listens on a TCP port of this machine, such as `nginx (pid 123)`; `undefined` if this
 * process may not see it. Programs of other users are seen by root only.
 */
export function portHolder(port: number): string | undefined {
  const sockets = new Set(
    ["/proc/net/tcp", "/proc/net/tcp6"]
      .flatMap((file) => tcpListeners(readable(() => readFileSync(file, "latin1")) ?? ""))
      .filter((listener) => listener.port === port)
      .map(({ inode }) => `socket:[${inode}]`),
  );
  if (sockets.size === 0) return undefined;
  const processes = readable(() => readdirSync("/proc")) ?? [];
  const pid = processes
    .filter((name) => /^\d+$/.test(name))
    // A server is older than its workers, which hold the same socket.
    .toSorted((one, other) => Number(one) - Number(other))
    .find((name) => holdsAny(name, sockets));
  const name = pid && readable(() => readFileSync(`/proc/${pid}/comm`, "utf8").replaceAll(/[^\x20-\x7e]/g, ""));
  return name ? `${name} (pid ${pid})` : undefined;
}

function holdsAny(pid: string, sockets: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`;
  const files = readable(() => readdirSync(folder)) ?? [];
  return files.some((file) => sockets.has(readable(() => readlinkSync(`${folder}/${file}`)) ?? ""));
}

/** Returns what is read; `undefined` if it is gone or belongs to another user. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
