import type { ComposeMap, ComposeNode } from "./compose_node.ts";
import { entriesIn, textIn, textsIn, truthIn } from "./field_values.ts";
import { type KeyRules, knownKeys, leftKeys, readKeys } from "./known_keys.ts";
import { nearestWord } from "../nearest_word.ts";
import { type Notes, quoted } from "./notes.ts";
import { declared, type ServiceReading } from "./service_reading.ts";

const ONE = "all services of a project share one network, which the engine sets up";
const NETWORK_KEYS: KeyRules = {
  ...readKeys("external", "driver"),
  ...leftKeys(ONE, "name", "internal", "attachable", "enable_ipv4", "enable_ipv6", "ipam", "driver_opts", "labels"),
};
const MEMBER_KEYS: KeyRules = {
  ...readKeys("aliases"),
  ...leftKeys(
    ONE,
    "ipv4_address",
    "ipv6_address",
    "link_local_ips",
    "mac_address",
    "driver_opts",
    "gw_priority",
    "interface_name",
    "priority",
  ),
};

/** Reads the network aliases of a service besides its own name, and the networks that it names. */
export function readNetworks(service: ServiceReading): {
  readonly aliases: readonly string[];
  readonly networks: readonly string[];
} {
  const { keys, name, project, reading } = service;
  const { notes } = reading;
  const named = entriesIn(notes, keys.get("networks"), `"networks" of ${name}`);
  const aliases = new Set<string>();
  for (const [network, node] of named) {
    if (network !== "default" && declared(service, "networks", network) === undefined) {
      const all = project.entries.get("networks");
      const near = nearestWord(network, all?.kind === "map" ? all.entries.keys() : []);
      const next =
        near === undefined ? 'Add it to "networks" of the file, or remove it' : `Did you mean ${quoted(near)}?`;
      notes.problem(node.at, `Cannot use a network of ${name}: it is not declared. ${next}`);
    }
    const member = knownKeys(notes, node, { rules: MEMBER_KEYS, whose: `of a network of ${name}` });
    for (const alias of textsIn(notes, member.get("aliases"), `"aliases" of ${name}`)) aliases.add(alias);
  }
  return {
    aliases: [...aliases].filter((alias) => alias !== name),
    networks: named.size > 0 ? [...named.keys()] : ["default"],
  };
}

/** Validates the networks of the file, and warns when its services use several, which are not separate here. */
export function checkNetworks(notes: Notes, project: ComposeMap, used: ReadonlySet<string>): void {
  const section = project.entries.get("networks");
  for (const [name, node] of entriesIn(notes, section, '"networks"')) checkNetwork(notes, name, node);
  if (used.size > 1 && section) {
    notes.warning(section.at, `The networks of this file become one: ${ONE}`);
  }
}

function checkNetwork(notes: Notes, name: string, node: ComposeNode): void {
  const keys = knownKeys(notes, node, { rules: NETWORK_KEYS, whose: `of the network ${name}` });
  const external = keys.get("external");
  if (external && (external.kind === "map" || truthIn(notes, external, `"external" of the network ${name}`))) {
    const reason =
      "it belongs to something outside of this project. Remove it; visitors reach services through public endpoints";
    notes.problem(external.at, `Cannot join the network ${name}: ${reason}`);
  }
  const driver = keys.get("driver");
  const word = driver && textIn(notes, driver, `"driver" of the network ${name}`);
  if (driver && word !== undefined && word !== "bridge")
    notes.warning(driver.at, `Left out "driver" of the network ${name}: ${ONE}`);
}
