import type { ServiceLimits } from "../services/service_spec.ts";
import { byteSize } from "./byte_size.ts";
import type { ComposeNode } from "./compose_node.ts";
import { entriesIn, notationIn, numberIn } from "./field_values.ts";
import { type KeyRules, knownKeys, leftKeys, readKeys } from "./known_keys.ts";
import { quoted } from "./notes.ts";
import type { ServiceReading } from "./service_reading.ts";

const RESOURCE_KEYS = readKeys("limits", "reservations");
const LIMIT_KEYS: KeyRules = readKeys("cpus", "memory", "pids");
const RESERVED_KEYS: KeyRules = {
  ...leftKeys("resources are not reserved for a service, only limited", "cpus", "memory", "generic_resources"),
  devices: { refused: "services get no graphics cards or other devices. Remove it" },
};

/** Reads the resource limits of a service, from its own keys or from `deploy`. */
export function readLimits(service: ServiceReading, deploy: ReadonlyMap<string, ComposeNode>): ServiceLimits {
  const { keys, name, reading } = service;
  const { notes } = reading;
  const resources = knownKeys(notes, deploy.get("resources"), {
    rules: RESOURCE_KEYS,
    whose: `of "deploy.resources" of ${name}`,
  });
  const whose = `of "deploy.resources.limits" of ${name}`;
  const limits = knownKeys(notes, resources.get("limits"), { rules: LIMIT_KEYS, whose });
  knownKeys(notes, resources.get("reservations"), {
    rules: RESERVED_KEYS,
    whose: `of "deploy.resources.reservations" of ${name}`,
  });
  const number = (node: ComposeNode, what: string) => numberIn(notes, node, { what });
  const count = (node: ComposeNode, what: string) => numberIn(notes, node, { what, whole: true, least: -1 });
  const bytes = (node: ComposeNode, what: string) => notationIn(notes, node, { what, read: byteSize });
  const of = (own: string, theirs: string | null, read: (node: ComposeNode, what: string) => number | undefined) => {
    const [node, other] = [keys.get(own), theirs === null ? undefined : limits.get(theirs)];
    const value = node && read(node, `"${own}" of ${name}`);
    const deployed = other && read(other, `"${theirs}" ${whose}`);
    if (other && value !== undefined && deployed !== undefined && value !== deployed) {
      notes.problem(
        other.at,
        `Cannot limit ${name}: "${own}" and "deploy.resources.limits.${theirs}" differ. Keep one of them`,
      );
    }
    const bound = deployed ?? value;
    // In compose, 0 and negative numbers mean no limit.
    return bound === undefined || bound <= 0 ? null : bound;
  };
  return {
    cpus: of("cpus", "cpus", number),
    memoryBytes: of("mem_limit", "memory", bytes),
    processes: of("pids_limit", "pids", count),
    sharedMemoryBytes: of("shm_size", null, bytes),
    openFiles: openFiles(service),
  };
}

function openFiles({ keys, name, reading: { notes } }: ServiceReading): ServiceLimits["openFiles"] {
  let files: ServiceLimits["openFiles"] = null;
  for (const [kind, node] of entriesIn(notes, keys.get("ulimits"), `"ulimits" of ${name}`)) {
    if (kind !== "nofile") {
      notes.warning(node.at, `Left out ${quoted(kind)} of "ulimits" of ${name}: only nofile is set`);
      continue;
    }
    const whose = `of "ulimits.nofile" of ${name}`;
    const both = knownKeys(notes, node, { rules: readKeys("soft", "hard"), whose });
    const [soft, hard] = (["soft", "hard"] as const).map((key) => {
      const value = both.get(key);
      return value && numberIn(notes, value, { what: `"${key}" ${whose}`, whole: true, least: 1 });
    });
    if (soft !== undefined && hard !== undefined && soft <= hard) files = { soft, hard };
    else
      notes.problem(
        node.at,
        `Cannot read "ulimits.nofile" of ${name}: it takes a number, or "soft" and a "hard" that is not less`,
      );
  }
  return files;
}
