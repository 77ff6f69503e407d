import { type ComposeNode, isNull } from "./compose_node.ts";
import { entriesIn, itemsIn, textIn, truthIn } from "./field_values.ts";
import { insidePath } from "./inside_path.ts";
import { knownKeys, readKeys } from "./known_keys.ts";
import { quoted, shown, shownPath } from "./notes.ts";
import type { ServiceReading } from "./service_reading.ts";

const FILE_KEYS = readKeys("path", "required", "format");

/**
 * Reads the environment of a service: its env files in order, where a later one can refer to variables of earlier ones,
 * over them its own `environment`, and over all the variables of the project that are for this service only.
 */
export function readEnvironment(service: ServiceReading): Readonly<Record<string, string>> {
  const { keys, name, own, reading } = service;
  const all = new Map<string, string>();
  const items = itemsIn(reading.notes, keys.get("env_file"), `"env_file" of ${name}`);
  // A file that is named twice, by an override file for example, keeps its place; its last options count.
  const files = new Map(items.map((item) => [sameFile(item), item]));
  for (const item of files.values()) {
    const values = fileValues(service, item, all);
    reading.effort.spend(values.size);
    for (const [key, value] of values) all.set(key, value);
  }
  for (const [key, value] of keyedTexts(service, keys.get("environment"), "environment", own)) {
    if (value === undefined) all.delete(key);
    else all.set(key, value);
  }
  for (const [key, value] of own) all.set(key, value);
  return Object.fromEntries(all);
}

/**
 * Returns the texts of a map. A key without a value takes the variable of that name, from `own` first, or `undefined`
 * with a warning if unset.
 */
export function keyedTexts(
  { name, reading: { notes } }: ServiceReading,
  node: ComposeNode | undefined,
  what: string,
  own: ReadonlyMap<string, string> = new Map(),
): (readonly [string, string | undefined])[] {
  return [...entriesIn(notes, node, `"${what}" of ${name}`)].map(([key, value]) => {
    if (key === "" || key.includes("=") || key.includes("\0")) {
      notes.problem(
        value.at,
        `Cannot read "${what}" of ${name}: a name is empty or has a character that no name can have`,
      );
      return [key, undefined];
    }
    if (!isNull(value)) return [key, textIn(notes, value, `"${what}" of ${name}`)];
    const known = own.get(key) ?? value.at.file.variables.get(key);
    if (known === undefined) {
      const next = "Give it a value, or set it among the variables of the project";
      notes.warning(value.at, `Left out ${shownKey(key, value)} in "${what}" of ${name}: it is not set. ${next}`);
    }
    return [key, known];
  });
}

/** A key from a list may contain the value of a variable, so it is shown as written, before interpolation. */
function shownKey(key: string, value: ComposeNode): string {
  return quoted(value.kind === "scalar" && value.raw !== "" ? value.raw : key);
}

/** The identity of an env file: equal for two items exactly when they write the same path in the same folder. */
function sameFile(item: ComposeNode): string | ComposeNode {
  const path = item.kind === "map" ? item.entries.get("path") : item;
  return path?.kind === "scalar" ? `${path.at.file.folder}\0${path.text}` : item;
}

function fileValues(
  { name, reading }: ServiceReading,
  item: ComposeNode,
  earlier: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const { notes } = reading;
  const whose = `of "env_file" of ${name}`;
  const long = item.kind === "map" ? knownKeys(notes, item, { rules: FILE_KEYS, whose }) : new Map([["path", item]]);
  const path = long.get("path");
  const text = path && textIn(notes, path, `"env_file" of ${name}`);
  if (!path || text === undefined) {
    if (!path) notes.problem(item.at, `Cannot read "env_file" of ${name}: no file is named. Add "path"`);
    return new Map();
  }
  const { file } = path.at;
  const inside = insidePath(file.folder, text);
  if (inside === undefined) {
    notes.problem(
      path.at,
      `Cannot read the variables of ${name} from ${shown(path)}: it is not a file of the source. Put it there`,
    );
    return new Map();
  }
  // The `.env` file beside the compose file is where other hosts keep the variables of the project.
  if (inside === file.variablesFile) return file.variables;
  const format = long.get("format");
  if (format?.kind === "scalar" && format.text !== "raw") {
    notes.problem(format.at, `Cannot read "format" ${whose}: only raw is supported. Remove it`);
  }
  const required = long.get("required");
  const values = reading.variables(inside, {
    name: shownPath(path, inside),
    known: file.variables,
    earlier,
    raw: format !== undefined,
  });
  if (values !== "absent") return values;
  if (required === undefined || truthIn(notes, required, `"required" ${whose}`) !== false) {
    const next = "Add it, or set the variables of the project and remove it here";
    notes.problem(
      path.at,
      `Cannot read the variables of ${name} from ${shown(path)}: there is no such file in the source. ${next}`,
    );
  }
  return new Map();
}
