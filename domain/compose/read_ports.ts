import { portEntry, type PortEntry } from "../services/port_notation.ts";
import type { ComposeNode } from "./compose_node.ts";
import { itemsIn, notationIn, numberIn, textIn } from "./field_values.ts";
import { knownKeys, leftKeys, readKeys } from "./known_keys.ts";
import { type Notes, shown } from "./notes.ts";
import type { ServiceReading } from "./service_reading.ts";

const MAX_PORTS = 100;
const KEYS = {
  ...readKeys("target", "published", "protocol", "host_ip"),
  ...leftKeys("ports are not published on the machine", "mode", "name", "app_protocol"),
};

/**
 * Reads the TCP ports that a service listens on in its container, those of `ports` first; none is published on the
 * host.
 */
export function readPorts({ keys, name, reading: { notes } }: ServiceReading): readonly number[] {
  const all = new Set<number>();
  const take = (node: ComposeNode, entry: PortEntry | undefined) => {
    if (entry?.protocol === "tcp") for (const port of entry.ports) if (all.size <= MAX_PORTS) all.add(port);
    if (entry && entry.protocol !== "tcp") {
      notes.warning(
        node.at,
        `Left out a port of ${name}: visitors reach services over HTTP, not over ${entry.protocol}; other services can still reach it`,
      );
    } else if (entry?.published) {
      notes.warning(node.at, `Left out the host port of ${name}: visitors reach it through its public endpoints`);
    }
  };
  for (const item of itemsIn(notes, keys.get("ports"), `"ports" of ${name}`)) {
    take(item, item.kind === "map" ? longPort(notes, item, name) : shortPort(notes, item, `a port of ${name}`));
  }
  for (const item of itemsIn(notes, keys.get("expose"), `"expose" of ${name}`)) {
    take(item, shortPort(notes, item, `a port that ${name} exposes`));
  }
  if (all.size > MAX_PORTS) {
    const at = (keys.get("ports") ?? keys.get("expose"))!.at;
    notes.problem(at, `Cannot use the ports of ${name}: there are more than ${MAX_PORTS}. Name those that matter`);
  }
  return [...all].slice(0, MAX_PORTS);
}

function shortPort(notes: Notes, node: ComposeNode, what: string): PortEntry | undefined {
  return notationIn(notes, node, { what, read: portEntry });
}

function longPort(notes: Notes, node: ComposeNode, name: string): PortEntry | undefined {
  const long = knownKeys(notes, node, { rules: KEYS, whose: `of a port of ${name}` });
  const target = long.get("target");
  if (target === undefined) {
    notes.problem(node.at, `Cannot read a port of ${name}: the port inside is missing. Add "target"`);
    return undefined;
  }
  const port = numberIn(notes, target, { what: `"target" of a port of ${name}`, whole: true, least: 1 });
  if (port === undefined) return undefined;
  const protocol = long.get("protocol");
  const word = protocol && textIn(notes, protocol, `"protocol" of a port of ${name}`);
  if (protocol && word !== undefined && !["tcp", "udp", "sctp"].includes(word)) {
    notes.problem(protocol.at, `Cannot read a port of ${name}: ${shown(protocol)} is not a protocol; use tcp or udp`);
    return undefined;
  }
  const entry = notationIn(notes, target, {
    what: `a port of ${name}`,
    read: (text) => portEntry(`${text}${word === undefined ? "" : `/${word}`}`),
  });
  const published = long.get("published");
  return entry && { ...entry, published: published && published.kind === "scalar" ? published.text : null };
}
