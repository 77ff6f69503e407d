import { didYouMean } from "../did_you_mean.ts";
import { DEPENDENCY_CONDITIONS, type DependencyCondition, type ServiceDependency } from "../services/service_spec.ts";
import type { ComposeNode, Place } from "./compose_node.ts";
import { entriesIn, itemsIn, textIn, truthIn } from "./field_values.ts";
import { knownKeys, readKeys } from "./known_keys.ts";
import { shown } from "./notes.ts";
import type { ServiceReading } from "./service_reading.ts";

const KEYS = readKeys("condition", "restart", "required");

/** A dependency and its position. */
export interface WrittenDependency {
  readonly at: Place;
  /** The name of the other service, as written. */
  readonly written: string;
  readonly dependency: ServiceDependency;
}

/** Reads what a service waits for (`depends_on`, `links`), and the aliases by which it reaches other services. */
export function readDependencies(service: ServiceReading): {
  readonly dependencies: readonly WrittenDependency[];
  readonly names: readonly { readonly service: string; readonly alias: string }[];
} {
  const { keys, name, reading } = service;
  const all = new Map<string, WrittenDependency>();
  for (const [other, node] of entriesIn(reading.notes, keys.get("depends_on"), `"depends_on" of ${name}`)) {
    const written = node.kind === "scalar" && node.raw !== "" ? node.raw : other;
    all.set(other, { at: node.at, written, dependency: dependencyOf(service, other, node) });
  }
  const names: { service: string; alias: string }[] = [];
  for (const item of itemsIn(reading.notes, keys.get("links"), `"links" of ${name}`)) {
    const [other = "", alias] = (textIn(reading.notes, item, `"links" of ${name}`) ?? "").split(":");
    if (other === "" || item.kind !== "scalar") continue;
    if (alias !== undefined && alias !== other) names.push({ service: other, alias });
    const dependency = { service: other, condition: "service_started", restart: true, required: true } as const;
    if (!all.has(other)) all.set(other, { at: item.at, written: item.raw, dependency });
  }
  return { dependencies: [...all.values()], names };
}

function dependencyOf(
  { name, reading: { notes } }: ServiceReading,
  other: string,
  node: ComposeNode,
): ServiceDependency {
  const whose = `of "depends_on" of ${name}`;
  const keys = knownKeys(notes, node, { rules: KEYS, whose });
  const truth = (key: string, otherwise: boolean) => {
    const value = keys.get(key);
    return (value && truthIn(notes, value, `"${key}" ${whose}`)) ?? otherwise;
  };
  const written = keys.get("condition");
  const word = written ? textIn(notes, written, `"condition" ${whose}`) : "service_started";
  const condition = DEPENDENCY_CONDITIONS.find((one) => one === word);
  if (written && word !== undefined && condition === undefined) {
    const known = `${DEPENDENCY_CONDITIONS.join(", ")}${didYouMean(word, DEPENDENCY_CONDITIONS)}`;
    notes.problem(written.at, `Cannot read "condition" ${whose}: ${shown(written)} is none of ${known}`);
  }
  return {
    service: other,
    condition: condition ?? ("service_started" satisfies DependencyCondition),
    restart: truth("restart", false),
    required: truth("required", true),
  };
}
