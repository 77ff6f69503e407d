import type { ServiceMount } from "../services/service_spec.ts";
import { volumeEntry } from "../services/volume_notation.ts";
import type { Notation } from "../services/notation.ts";
import { byteSize } from "./byte_size.ts";
import { type ComposeNode, isNull } from "./compose_node.ts";
import { itemsIn, notationIn, textIn, truthIn } from "./field_values.ts";
import { insidePath } from "./inside_path.ts";
import { type KeyRules, knownKeys, leftKeys, readKeys, refusedKeys } from "./known_keys.ts";
import { shown } from "./notes.ts";
import { namedVolume } from "./named_volume.ts";
import type { ServiceReading } from "./service_reading.ts";

const KEYS: KeyRules = {
  ...readKeys("type", "source", "target", "read_only", "bind", "volume", "tmpfs"),
  ...leftKeys("it makes no difference here", "consistency"),
  ...refusedKeys("images cannot be mounted. Copy what is needed into the image of the service", "image"),
};
const OWN_WAY = "folders are mounted with the engine's defaults";
const OPTION_KEYS: Readonly<Record<"bind" | "volume" | "tmpfs", KeyRules>> = {
  bind: leftKeys(OWN_WAY, "propagation", "create_host_path", "selinux", "recursive"),
  volume: {
    ...leftKeys("volumes are mounted with the engine's defaults", "nocopy", "labels"),
    subpath: { refused: "a volume is mounted as a whole. Remove it" },
  },
  tmpfs: { ...readKeys("size"), mode: { left: "every user in the container may write to it" } },
};
/** Options of short forms besides `ro` that make no difference here. */
const NO_DIFFERENCE = new Set(["nocopy", "private", "rprivate"]);
const PROPAGATIONS = new Set(["shared", "rshared", "slave", "rslave"]);

/** Reads the mounts of a service; a later one replaces an earlier one at the same path. */
export function readMounts(service: ServiceReading): readonly ServiceMount[] {
  const { keys, name, reading } = service;
  const all = new Map<string, ServiceMount>();
  const take = (mount: ServiceMount | undefined) => {
    if (mount === undefined) return;
    all.delete(mount.target);
    all.set(mount.target, mount);
  };
  for (const item of itemsIn(reading.notes, keys.get("volumes"), `"volumes" of ${name}`)) {
    const mount = item.kind === "map" ? longMount(service, item) : shortMount(service, item);
    take(mount?.kind === "volume" ? namedVolume(service, item, mount) : mount);
  }
  for (const item of itemsIn(reading.notes, keys.get("tmpfs"), `"tmpfs" of ${name}`)) take(memoryMount(service, item));
  return [...all.values()];
}

function shortMount({ name, reading: { notes } }: ServiceReading, node: ComposeNode): ServiceMount | undefined {
  let propagates = false;
  const read = (text: string): Notation<ServiceMount> => {
    const [from = "", target, options, ...rest] = text.split(":");
    if (/^[A-Za-z]$/.test(from) && target?.startsWith("\\")) return { wrong: "Windows paths are not supported" };
    const requested = options?.split(",").filter((option) => !NO_DIFFERENCE.has(option));
    const kept = requested?.filter((option) => !PROPAGATIONS.has(option));
    propagates = kept?.length !== requested?.length;
    const place = target !== undefined && isRelative(from) ? insidePath(node.at.file.folder, from) : from;
    if (place === undefined) return { wrong: OUTSIDE };
    const start = place === from ? from : `./${place}`;
    const written = [start, ...(target === undefined ? [] : [target])];
    return volumeEntry([...written, ...(kept?.length ? [kept.join(",")] : []), ...rest].join(":"));
  };
  const mount = notationIn(notes, node, { what: `a volume of ${name}`, read });
  if (propagates) notes.warning(node.at, `Left out the propagation of a volume of ${name}: ${OWN_WAY}`);
  return mount;
}

const OUTSIDE = "this path leads out of the source; give one inside it, or an absolute one";

function isRelative(from: string): boolean {
  return !from.startsWith("/") && !from.startsWith("~") && (from.startsWith(".") || from.includes("/"));
}

function longMount(service: ServiceReading, node: ComposeNode): ServiceMount | undefined {
  const { name, reading } = service;
  const { notes } = reading;
  const whose = `of a volume of ${name}`;
  const keys = knownKeys(notes, node, { rules: KEYS, whose });
  const text = (key: string) => {
    const value = keys.get(key);
    return value && textIn(notes, value, `"${key}" ${whose}`);
  };
  const [type, target, source] = [text("type"), text("target"), text("source")];
  const readOnly = keys.has("read_only") && truthIn(notes, keys.get("read_only")!, `"read_only" ${whose}`) === true;
  if (target === undefined || (type !== "bind" && type !== "volume" && type !== "tmpfs")) {
    const missing =
      target === undefined
        ? 'the path inside the container is missing. Add "target"'
        : '"type" has to be volume, bind or tmpfs';
    notes.problem(keys.get("type")?.at ?? node.at, `Cannot read a volume of ${name}: ${missing}`);
    return undefined;
  }
  const options = optionsOf(service, { keys, type });
  const at = keys.get("target")!;
  if (type === "tmpfs") return memoryMount(service, at, options.get("size"));
  if (type === "bind" && source === undefined) {
    notes.problem(node.at, `Cannot read a volume of ${name}: what to mount is missing. Add "source"`);
    return undefined;
  }
  const from = keys.get("source");
  const start = type === "bind" ? bound(from!, source!) : source;
  const read = (written: string) =>
    start === false
      ? { wrong: OUTSIDE }
      : volumeEntry(`${start === undefined ? "" : `${start}:`}${written}${readOnly ? ":ro" : ""}`);
  const mount = notationIn(notes, from?.kind === "scalar" && from.raw !== from.text ? from : at, {
    what: `a volume of ${name} at`,
    read: () => (/[:\0]/.test(`${start}${target}`) ? { wrong: "a path with a colon cannot be mounted" } : read(target)),
  });
  return mount && type === "volume" && mount.kind !== "volume" ? notAName(service, from!) : mount;
}

function notAName({ name, reading }: ServiceReading, from: ComposeNode): undefined {
  reading.notes.problem(
    from.at,
    `Cannot use ${shown(from)} as a volume of ${name}: it is a path. Set "type" to bind, or give a name`,
  );
}

/** Returns the source of a bind mount in its short form; `false` when it leaves the source of the project. */
function bound(node: ComposeNode, source: string): string | false {
  if (source.startsWith("/") || source.startsWith("~")) return source;
  const path = insidePath(node.at.file.folder, source);
  return path === undefined ? false : `./${path}`;
}

function optionsOf(
  { name, reading: { notes } }: ServiceReading,
  { keys, type }: { readonly keys: ReadonlyMap<string, ComposeNode>; readonly type: "bind" | "volume" | "tmpfs" },
): ReadonlyMap<string, ComposeNode> {
  for (const other of ["bind", "volume", "tmpfs"] as const) {
    const given = keys.get(other);
    if (given && other !== type && !isNull(given)) {
      notes.problem(given.at, `Cannot use "${other}" of a volume of ${name}: its type is ${type}. Remove one of them`);
    }
  }
  return knownKeys(notes, keys.get(type), { rules: OPTION_KEYS[type], whose: `of "${type}" of a volume of ${name}` });
}

/** Reads a tmpfs mount; its short form may contain the size. */
function memoryMount(
  { name, reading: { notes } }: ServiceReading,
  node: ComposeNode,
  sizeNode?: ComposeNode,
): ServiceMount | undefined {
  const text = textIn(notes, node, `"tmpfs" of ${name}`);
  if (text === undefined) return undefined;
  const [path = "", options = ""] = text.split(":");
  const requested = options.split(",").filter((option) => option !== "");
  const size = requested.find((option) => option.startsWith("size="));
  const others = requested.filter((option) => option !== size && option !== "rw");
  if (others.length > 0) notes.warning(node.at, `Left out options of "tmpfs" of ${name}: only its size is used`);
  const target = notationIn(notes, node, { what: `"tmpfs" of ${name}`, read: () => volumeEntry(path) })?.target;
  const what = `the size of "tmpfs" of ${name}`;
  const bytes = sizeNode
    ? notationIn(notes, sizeNode, { what, read: byteSize })
    : size && notationIn(notes, node, { what, read: () => byteSize(size.slice("size=".length)) });
  return target === undefined ? undefined : { kind: "memory", target, bytes: bytes || null };
}
