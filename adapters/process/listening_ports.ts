import { readFileSync } from "node:fs";

const LISTENING = "0A";

/** Every TCP port of this machine that a program listens on, without connecting to any. */
export function listeningPorts(): ReadonlySet<number> {
  const ports = new Set<number>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of textOf(table).split("\n").slice(1)) {
      const [, local, , state] = line.trim().split(/\s+/);
      if (state === LISTENING && local) ports.add(Number.parseInt(local.slice(local.lastIndexOf(":") + 1), 16));
    }
  }
  return ports;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
