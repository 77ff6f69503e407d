import type { ComposeNode } from "./compose_node.ts";
import { textIn } from "./field_values.ts";
import { knownKeys, leftKeys, readKeys } from "./known_keys.ts";
import { shown } from "./notes.ts";
import type { ServiceReading } from "./service_reading.ts";

const POLICY_KEYS = {
  ...readKeys("condition"),
  ...leftKeys("a service that ends is restarted after growing delays", "delay", "max_attempts", "window"),
};

/** Reads the restart policy of a service: restart when it exits, or never; `null` when it has none. */
export function readRestart(
  service: ServiceReading,
  deploy: ReadonlyMap<string, ComposeNode>,
): "again" | "never" | null {
  const { keys, name, reading } = service;
  const { notes } = reading;
  const policy = knownKeys(notes, deploy.get("restart_policy"), {
    rules: POLICY_KEYS,
    whose: `of "deploy.restart_policy" of ${name}`,
  });
  const condition = policy.get("condition");
  const node = condition ?? keys.get("restart");
  const text = node && textIn(notes, node, `"restart" of ${name}`);
  if (!node || text === undefined) return null;
  if (text === "no" || (condition && text === "none")) return "never";
  if (text === "always" || text === "unless-stopped" || (condition && text === "any")) return "again";
  if (/^on-failure(?::\d+)?$/.test(text)) {
    notes.warning(node.at, `${name} is restarted whenever it ends: "on-failure" counts as "always" here`);
    return "again";
  }
  const words = condition ? "none, on-failure, any" : '"no" (in quotes), always, on-failure, unless-stopped';
  notes.problem(node.at, `Cannot read "restart" of ${name}: ${shown(node)} is none of ${words}`);
  return null;
}
