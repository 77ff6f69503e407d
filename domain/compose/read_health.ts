import { durationMs } from "../services/duration.ts";
import type { ServiceHealth } from "../services/service_spec.ts";
import type { ComposeNode } from "./compose_node.ts";
import { itemsIn, notationIn, numberIn, textIn, truthIn } from "./field_values.ts";
import { type KeyRules, knownKeys, readKeys } from "./known_keys.ts";
import type { ServiceReading } from "./service_reading.ts";

const KEYS: KeyRules = {
  ...readKeys("test", "interval", "timeout", "retries", "start_period", "disable"),
  start_interval: { left: "the interval is the same from the start" },
};

/** Reads the `healthcheck` of a service: `"none"` when it is disabled, `null` when there is none. */
export function readHealth(service: ServiceReading): ServiceHealth | "none" | null {
  const { keys, name, reading } = service;
  const { notes } = reading;
  const node = keys.get("healthcheck");
  if (node === undefined) return null;
  const whose = `of "healthcheck" of ${name}`;
  const check = knownKeys(notes, node, { rules: KEYS, whose });
  const disable = check.get("disable");
  if (disable && truthIn(notes, disable, `"disable" ${whose}`)) return "none";
  const written = check.get("test");
  const test = written ? testOf(service, written) : null;
  if (test === "none") return "none";
  const time = (key: string) => {
    const value = check.get(key);
    return (value && notationIn(notes, value, { what: `"${key}" ${whose}`, read: durationMs })) || null;
  };
  const retries = check.get("retries");
  return {
    test,
    intervalMs: time("interval"),
    timeoutMs: time("timeout"),
    retries: (retries && numberIn(notes, retries, { what: `"retries" ${whose}`, whole: true })) || null,
    startPeriodMs: time("start_period"),
  };
}

function testOf({ name, reading: { notes } }: ServiceReading, node: ComposeNode): ServiceHealth["test"] | "none" {
  const what = `"test" of "healthcheck" of ${name}`;
  if (node.kind === "scalar") {
    const shell = textIn(notes, node, what);
    return shell === undefined || shell === "" ? null : { shell };
  }
  const items = itemsIn(notes, node, what);
  const [first = "", ...words] = items.map((item) => textIn(notes, item, what) ?? "");
  if (first === "NONE" && words.length === 0) return "none";
  if (first === "CMD" && words.length > 0) return words;
  if (first === "CMD-SHELL" && words.length === 1) return { shell: words[0]! };
  if (items.length === 0) return null;
  const forms = "a list is NONE alone, CMD with the words of a command, or CMD-SHELL with one line";
  notes.problem(node.at, `Cannot read ${what}: ${forms}`);
  return null;
}
