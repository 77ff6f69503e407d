import { readFileSync } from "node:fs";
import { cacheDurationMs } from "../shared/cache_duration.ts";
import { tcpListeners } from "../shared/tcp_table.ts";

interface Reading {
  readonly at: number;
  readonly ports: ReadonlySet<number>;
  readonly goodUntil: number;
}

let last: Reading | undefined;

/**
 * Returns every TCP port with a listener on this machine, without connecting to any, as of some moment after `since`.
 * Cached for a while, because the kernel takes milliseconds to write the table, however short it is.
 */
export function listeningPorts(since: number): ReadonlySet<number> {
  const at = Date.now();
  if (last && last.at > since && at < last.goodUntil && at >= last.at) return last.ports;
  const begun = performance.now();
  const ports = readPorts();
  last = { at, ports, goodUntil: at + cacheDurationMs(performance.now() - begun) };
  return ports;
}

function readPorts(): ReadonlySet<number> {
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(textOf);
  return new Set(tables.flatMap(tcpListeners).map(({ port }) => port));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
