import { normalPath } from "../services/normal_path.ts";
import type { ServiceFile } from "../services/service_spec.ts";
import type { ComposeNode } from "./compose_node.ts";
import { itemsIn, numberIn, textIn, truthIn } from "./field_values.ts";
import { insidePath } from "./inside_path.ts";
import { type KeyRules, knownKeys, leftKeys, readKeys, refusedKeys } from "./known_keys.ts";
import { type Notes, quoted, shown } from "./notes.ts";
import { declared, type ServiceReading } from "./service_reading.ts";

const KINDS = [
  { section: "configs", one: "config", folder: "" },
  { section: "secrets", one: "secret", folder: "/run/secrets" },
] as const;
type Kind = (typeof KINDS)[number];

const ENTRY_KEYS = readKeys("source", "target", "uid", "gid", "mode");
const SOURCE_KEYS: KeyRules = {
  ...readKeys("file", "environment", "content", "external"),
  ...refusedKeys(
    "only Docker Swarm supports it. Give a file, a variable or the content",
    "driver",
    "driver_opts",
    "template_driver",
  ),
  ...leftKeys("it has a name only inside this file", "name", "labels"),
};
const READABLE = 0o444;
/** The maximum size that an engine accepts for one config or secret. */
const MAX_LENGTH = 512_000;

/** Reads the configs and secrets of a service as files; a later one replaces an earlier one at the same path. */
export function readFiles(service: ServiceReading): readonly ServiceFile[] {
  const { keys, name, reading } = service;
  const all = new Map<string, ServiceFile>();
  for (const kind of KINDS) {
    for (const item of itemsIn(reading.notes, keys.get(kind.section), `"${kind.section}" of ${name}`)) {
      const file = fileOf(service, item, kind);
      if (file) all.set(file.target, file);
    }
  }
  return [...all.values()];
}

function fileOf(service: ServiceReading, item: ComposeNode, kind: Kind): ServiceFile | undefined {
  const { name, reading } = service;
  const { notes } = reading;
  const whose = `of a ${kind.one} of ${name}`;
  const keys = item.kind === "map" ? knownKeys(notes, item, { rules: ENTRY_KEYS, whose }) : new Map([["source", item]]);
  const source = keys.get("source");
  const key = source && textIn(notes, source, `"source" ${whose}`);
  if (!source || key === undefined) {
    if (!source) notes.problem(item.at, `Cannot read a ${kind.one} of ${name}: it is not named. Add "source"`);
    return undefined;
  }
  const node = declared(service, kind.section, key);
  if (node === undefined) {
    notes.problem(
      source.at,
      `Cannot give ${name} the ${kind.one} ${shown(source)}: it is not declared. Add it to "${kind.section}" of the file`,
    );
    return undefined;
  }
  const content = contentOf(service, node, { kind, key });
  const target = targetOf(notes, keys.get("target"), { kind, key, whose });
  if (content === undefined || target === undefined) return undefined;
  const owner = (id: string) => {
    const value = keys.get(id);
    return (value && numberIn(notes, value, { what: `"${id}" ${whose}`, whole: true })) ?? 0;
  };
  return { target, content, mode: modeOf(notes, keys.get("mode"), whose), uid: owner("uid"), gid: owner("gid") };
}

function targetOf(
  notes: Notes,
  node: ComposeNode | undefined,
  { kind, key, whose }: { readonly kind: Kind; readonly key: string; readonly whose: string },
): string | undefined {
  const text = node ? textIn(notes, node, `"target" ${whose}`) : key;
  if (text === undefined) return undefined;
  const target = normalPath(text.startsWith("/") ? text : `${kind.folder}/${text}`);
  if (target !== undefined && target !== "/" && !text.endsWith("/")) return target;
  if (node) notes.problem(node.at, `Cannot put a file at ${shown(node)} ${whose}: it is not a path of a file`);
  return undefined;
}

/** Parses a file mode; a quoted one or one with a leading 0 is octal, as in compose. */
function modeOf(notes: Notes, node: ComposeNode | undefined, whose: string): number {
  if (node === undefined) return READABLE;
  const { scalar, text } = node.kind === "scalar" ? node : { scalar: null, text: "" };
  const [, digits] = /^0?o?([0-7]{1,4})$/.exec(text) ?? [];
  const octal = typeof scalar === "string" || text.startsWith("0");
  const mode = octal ? (digits === undefined ? NaN : parseInt(digits, 8)) : Number(scalar ?? NaN);
  if (Number.isInteger(mode) && mode >= 0 && mode <= 0o7777) return mode;
  notes.problem(node.at, `Cannot read "mode" ${whose}: ${shown(node)} is not a file mode. Write it as in 0440`);
  return READABLE;
}

/** Returns the content of a config or secret; `undefined` when it is unavailable (a problem) or not loaded yet. */
function contentOf(
  { reading }: ServiceReading,
  node: ComposeNode,
  { kind, key }: { readonly kind: Kind; readonly key: string },
): string | undefined {
  const { notes } = reading;
  const what = `the ${kind.one} ${key}`;
  const keys = knownKeys(notes, node, { rules: SOURCE_KEYS, whose: `of ${what}` });
  const external = keys.get("external");
  if (external && (external.kind === "map" || truthIn(notes, external, `"external" of ${what}`))) {
    notes.problem(
      external.at,
      `Cannot use ${what}: it is kept outside of this file. Give a file, a variable or the content`,
    );
    return undefined;
  }
  const given = (["file", "environment", "content"] as const).filter((way) => keys.has(way));
  if (given.length !== 1) {
    notes.problem(node.at, `Cannot use ${what}: it takes exactly one of "file", "environment" and "content"`);
    return undefined;
  }
  const value = keys.get(given[0]!)!;
  const text = textIn(notes, value, `"${given[0]}" of ${what}`);
  if (text === undefined || given[0] === "content") return text;
  if (given[0] === "environment") {
    const known = value.at.file.variables.get(text);
    if (known === undefined)
      notes.problem(
        value.at,
        `Cannot use ${what}: the variable ${shown(value)} is not set. Set it among the variables of the project`,
      );
    return known;
  }
  return fileContent(reading, value, { what, text });
}

function fileContent(
  reading: ServiceReading["reading"],
  node: ComposeNode,
  { what, text }: { readonly what: string; readonly text: string },
): string | undefined {
  const path = insidePath(node.at.file.folder, text);
  const found = path === undefined ? "absent" : reading.text(path);
  if (found === "pending") return undefined;
  if (typeof found === "object" && found.text.length <= MAX_LENGTH) return found.text;
  const reasons = { absent: "is not a file of the source", binary: "is not text, or too large" };
  const reason = typeof found === "object" ? "is too large" : reasons[found];
  reading.notes.problem(
    node.at,
    `Cannot use ${what}: ${quoted(node.kind === "scalar" ? node.raw : "")} ${reason}. Put it into the source, or give a variable`,
  );
  return undefined;
}
