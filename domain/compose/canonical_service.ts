import { type ComposeMap, type ComposeNode, isNull, mapNode, nullNode, textNode } from "./compose_node.ts";

/**
 * Rewrites the short forms of a service to long forms, so that two services can be merged. Values of an unexpected kind
 * stay unchanged.
 */
export function canonicalService(node: ComposeNode): ComposeNode {
  if (node.kind !== "map") return node;
  return { ...node, entries: new Map([...node.entries].map(([key, value]) => [key, longForm(key, value)])) };
}

function longForm(key: string, node: ComposeNode): ComposeNode {
  const long = Object.hasOwn(LONG_FORMS, key) ? LONG_FORMS[key]!(node) : node;
  return node.tag !== undefined && long !== node ? { ...long, tag: node.tag } : long;
}

const LONG_FORMS: Readonly<Record<string, (node: ComposeNode) => ComposeNode>> = {
  annotations: keyed,
  build,
  depends_on: named,
  dns: listed,
  dns_opt: listed,
  dns_search: listed,
  env_file: listed,
  environment: keyed,
  extends: (node) => single(node, "service"),
  extra_hosts: hosts,
  label_file: listed,
  labels: keyed,
  networks: named,
  sysctls: keyed,
  tmpfs: listed,
  ulimits: (node) => inEach(node, (limit) => (limit.kind === "scalar" && !isNull(limit) ? softAndHard(limit) : limit)),
};

function build(node: ComposeNode): ComposeNode {
  const long = single(node, "context");
  if (long.kind !== "map") return long;
  const keys = new Set(["args", "labels", "additional_contexts"]);
  const entries = [...long.entries].map(([key, value]) => [key, keys.has(key) ? keyed(value) : value] as const);
  return { ...long, entries: new Map(entries) };
}

/** Turns a scalar into a map with one key. */
function single(node: ComposeNode, key: string): ComposeNode {
  return node.kind === "scalar" && !isNull(node) ? mapNode(node.at, new Map([[key, node]])) : node;
}

/** Turns a scalar or a map into a list of one item. */
function listed(node: ComposeNode): ComposeNode {
  const alone = (node.kind === "scalar" && !isNull(node)) || node.kind === "map";
  return alone ? { kind: "list", at: node.at, items: [node] } : node;
}

/** Turns a list of `KEY=value` and `KEY` into a map. */
function keyed(node: ComposeNode): ComposeNode {
  if (node.kind !== "list" || node.items.some((item) => item.kind !== "scalar")) return node;
  const entries = new Map<string, ComposeNode>();
  for (const item of node.items) {
    if (item.kind !== "scalar") continue;
    const [, key = "", value] = /^([^=]*)(?:=([\s\S]*))?$/.exec(item.text) ?? [];
    const raw = item.raw === item.text ? value : item.raw;
    entries.delete(key);
    entries.set(key, value === undefined ? { ...nullNode(item.at), raw: item.raw } : textNode(item.at, value, raw));
  }
  return { ...mapNode(node.at, entries) };
}

/** Turns a list of names into a map. */
function named(node: ComposeNode): ComposeNode {
  if (node.kind !== "list" || node.items.some((item) => item.kind !== "scalar")) return node;
  const entries = node.items.flatMap((item) =>
    item.kind === "scalar" ? [[item.text, { ...nullNode(item.at), raw: item.raw }] as const] : [],
  );
  return mapNode(node.at, new Map(entries));
}

/** Turns a map of host names to addresses into a list. */
function hosts(node: ComposeNode): ComposeNode {
  if (node.kind !== "map") return node;
  const items = [...node.entries].flatMap(([host, value]) => {
    const addresses = value.kind === "list" ? value.items : [value];
    return addresses.map((address) =>
      address.kind === "scalar" ? textNode(address.at, `${host}=${address.text}`, `${host}=${address.raw}`) : address,
    );
  });
  return { kind: "list", at: node.at, items };
}

function softAndHard(limit: ComposeNode): ComposeMap {
  return mapNode(
    limit.at,
    new Map([
      ["soft", limit],
      ["hard", limit],
    ]),
  );
}

function inEach(node: ComposeNode, change: (value: ComposeNode) => ComposeNode): ComposeNode {
  if (node.kind !== "map") return node;
  return { ...node, entries: new Map([...node.entries].map(([key, value]) => [key, change(value)])) };
}
