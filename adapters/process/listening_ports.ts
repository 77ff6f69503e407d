import { readFileSync } from "node:fs";
import { goodForMs } from "../shared/costly_look.ts";

const LISTENING = "0A";

interface Reading {
  readonly at: number;
  readonly ports: ReadonlySet<number>;
  readonly goodUntil: number;
}

let last: Reading | undefined;

/**
 * Every TCP port of this machine that a program listens on, without connecting to any, as it was at some moment after `since`. The kernel takes
 * milliseconds to write the table, however short it is.
 */
export function listeningPorts(since: number): ReadonlySet<number> {
  const at = Date.now();
  if (last && last.at > since && at < last.goodUntil && at >= last.at) return last.ports;
  const begun = performance.now();
  const ports = readPorts();
  last = { at, ports, goodUntil: at + goodForMs(performance.now() - begun) };
  return ports;
}

function readPorts(): ReadonlySet<number> {
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
