import { durationMs } from "../services/duration.ts";
import type { ContainerSpec, ServiceSpec } from "../services/service_spec.ts";
import { type ComposeNode, isNull } from "./compose_node.ts";
import { entriesIn, itemsIn, notationIn, numberIn, textIn, truthIn } from "./field_values.ts";
import { knownKeys } from "./known_keys.ts";
import { shown } from "./notes.ts";
import { readCommand } from "./read_command.ts";
import { readDependencies, type WrittenDependency } from "./read_dependencies.ts";
import { readEnvironment } from "./read_environment.ts";
import { readFiles } from "./read_files.ts";
import { readHealth } from "./read_health.ts";
import { readIsolation } from "./read_isolation.ts";
import { readLimits } from "./read_limits.ts";
import { readMounts } from "./read_mounts.ts";
import { readNetworks } from "./read_networks.ts";
import { readOrigin } from "./read_origin.ts";
import { readPorts } from "./read_ports.ts";
import { readRestart } from "./read_restart.ts";
import { DEPLOY_KEYS } from "./service_keys.ts";
import type { ServiceReading } from "./service_reading.ts";

/** A parsed service, before it is joined with the others. */
export interface ReadService {
  readonly spec: ServiceSpec;
  readonly node: ComposeNode;
  /** The name by which other services may use the image that it builds. */
  readonly builtAs: string | null;
  readonly restart: "again" | "never" | null;
  readonly dependencies: readonly WrittenDependency[];
  /** Aliases by which it reaches other services. */
  readonly names: readonly { readonly service: string; readonly alias: string }[];
  readonly networks: readonly string[];
}

/** Parses a service; adds a problem and returns `undefined` when its image or build is missing or invalid. */
export function readService(service: ServiceReading): ReadService | undefined {
  const { keys, name, node, reading } = service;
  const deploy = knownKeys(reading.notes, keys.get("deploy"), { rules: DEPLOY_KEYS, whose: `of "deploy" of ${name}` });
  for (const count of [deploy.get("replicas"), keys.get("scale")]) {
    if (count === undefined) continue;
    const number = numberIn(reading.notes, count, { what: `the number of copies of ${name}`, whole: true });
    if (number !== undefined && number !== 1)
      reading.notes.problem(
        count.at,
        `Cannot run ${shown(count)} copies of ${name}: each service runs once. Set 1, or remove it`,
      );
  }
  const origin = readOrigin(service);
  const restart = readRestart(service, deploy);
  const { aliases, networks } = readNetworks(service);
  const { dependencies, names } = readDependencies(service);
  const container = containerOf(service, { aliases, deploy });
  const environment = readEnvironment(service);
  const ports = readPorts(service);
  if (origin === undefined) return undefined;
  const spec = { name, from: origin.from, environment, ports, dependsOn: [], oneShot: false, container };
  return { spec, node, builtAs: origin.builtAs, restart, dependencies, names, networks };
}

function containerOf(
  service: ServiceReading,
  { aliases, deploy }: { readonly aliases: readonly string[]; readonly deploy: ReadonlyMap<string, ComposeNode> },
): ContainerSpec {
  const { keys, name, reading } = service;
  const { notes } = reading;
  const text = (key: string) => {
    const node = keys.get(key);
    return (node && textIn(notes, node, `"${key}" of ${name}`)) || null;
  };
  const truth = (key: string) => {
    const node = keys.get(key);
    return (node && truthIn(notes, node, `"${key}" of ${name}`)) ?? null;
  };
  const grace = keys.get("stop_grace_period");
  return {
    entrypoint: readCommand(service, "entrypoint"),
    command: readCommand(service, "command"),
    workingDir: text("working_dir"),
    user: text("user"),
    mounts: readMounts(service),
    files: readFiles(service),
    healthcheck: readHealth(service),
    aliases,
    hostname: text("hostname"),
    labels: Object.fromEntries(labelsOf(service)),
    extraHosts: hostsOf(service),
    stopSignal: text("stop_signal"),
    stopGraceMs:
      (grace && notationIn(notes, grace, { what: `"stop_grace_period" of ${name}`, read: durationMs })) ?? null,
    init: truth("init"),
    readOnly: truth("read_only") ?? false,
    dropCapabilities: readIsolation(service),
    limits: readLimits(service, deploy),
  };
}

function labelsOf({ keys, name, reading: { notes } }: ServiceReading): (readonly [string, string])[] {
  // A label without a value is empty; it does not take the variable of that name.
  return [...entriesIn(notes, keys.get("labels"), `"labels" of ${name}`)].map(([key, value]) => [
    key,
    isNull(value) ? "" : (textIn(notes, value, `a label of ${name}`) ?? ""),
  ]);
}

function hostsOf({ keys, name, reading: { notes } }: ServiceReading): readonly string[] {
  const all = new Set<string>();
  for (const item of itemsIn(notes, keys.get("extra_hosts"), `"extra_hosts" of ${name}`)) {
    const text = textIn(notes, item, `"extra_hosts" of ${name}`);
    const [, host, address] = /^([^\s=:[\]]+)[=:]\[?([^\s=[\],]+(?:,[^\s=[\],]+)*)\]?$/.exec(text ?? "") ?? [];
    if (host !== undefined) for (const one of address!.split(",")) all.add(`${host}:${one}`);
    else if (text !== undefined)
      notes.problem(item.at, `Cannot read ${shown(item)} in "extra_hosts" of ${name}: write it as in host=10.0.0.1`);
  }
  return [...all];
}
