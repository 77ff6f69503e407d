import type { ComposeMap, ComposeNode } from "./compose_node.ts";
import { isNull, mapNode, hasSameContent } from "./compose_node.ts";
import type { ComposeReading } from "./compose_reading.ts";
import { itemsIn, textIn } from "./field_values.ts";
import { folderOf, insidePath } from "./inside_path.ts";
import { knownKeys, readKeys } from "./known_keys.ts";
import type { LayerRequest } from "./layer_request.ts";
import { quoted, shown, shownPath } from "./notes.ts";

const SECTIONS = ["services", "volumes", "networks", "configs", "secrets"];
const MAX_DEPTH = 10;
const KEYS = readKeys("path", "env_file", "project_directory");

/** How to read included files. */
interface Including {
  readonly chain: readonly string[];
  readonly read: (reading: ComposeReading, request: LayerRequest) => ComposeMap;
}

/** Adds the services, volumes, networks, configs and secrets of all included files to a file. */
export function importedFiles(reading: ComposeReading, written: ComposeMap, including: Including): ComposeMap {
  const include = written.entries.get("include");
  if (include === undefined) return written;
  const entries = new Map(written.entries);
  entries.delete("include");
  let whole: ComposeMap = { ...written, entries };
  for (const item of itemsIn(reading.notes, include, '"include"')) {
    const request = layerRequest(reading, item, including.chain);
    if (request !== undefined) whole = joined(reading, whole, including.read(reading, request));
  }
  return whole;
}

function layerRequest(reading: ComposeReading, item: ComposeNode, chain: readonly string[]): LayerRequest | undefined {
  const { notes } = reading;
  const long =
    item.kind === "scalar" ? new Map([["path", item]]) : knownKeys(notes, item, { rules: KEYS, whose: 'of "include"' });
  const paths = textPaths(reading, long.get("path"), "include");
  if (paths === undefined || paths.length === 0) {
    if (!long.has("path")) notes.problem(item.at, 'Cannot include this: no file is named. Add "path"');
    return undefined;
  }
  const [first] = paths;
  if (chain.includes(first!.path)) {
    notes.problem(item.at, `Cannot include ${quoted(first!.name)}: it includes itself. Break the cycle`);
    return undefined;
  }
  if (chain.length > MAX_DEPTH) {
    notes.problem(item.at, `Cannot include ${quoted(first!.name)}: more than ${MAX_DEPTH} files include each other`);
    return undefined;
  }
  const directory = long.get("project_directory");
  const folders = directory && textPaths(reading, directory, "use the project directory");
  const folder = folders?.[0]?.path ?? folderOf(first!.path);
  return {
    paths: paths.map(({ path, name }) => ({ path, name, required: item.at })),
    folder,
    variables: variablesOf(reading, { item, folder, files: long.get("env_file") }),
    variablesFile: long.has("env_file") ? null : insidePath(folder, ".env")!,
    chain,
  };
}

function variablesOf(
  reading: ComposeReading,
  {
    item,
    folder,
    files,
  }: { readonly item: ComposeNode; readonly folder: string; readonly files: ComposeNode | undefined },
): ReadonlyMap<string, string> {
  const { variables: known } = item.at.file;
  const beside = insidePath(folder, ".env")!;
  // `env_file: /dev/null` is how an included file declares that it has no env file.
  const none = files?.kind === "scalar" && files.text === "/dev/null";
  const named = files && !none ? textPaths(reading, files, "use the variables of") : undefined;
  reading.effort.spend(known.size);
  const wanted = files === undefined ? [{ path: beside, name: beside }] : (named ?? []);
  const own = new Map<string, string>();
  for (const { path, name } of wanted) {
    const before = { get: (key: string) => known.get(key) ?? own.get(key) };
    const values = reading.variables(path, { name, known: before });
    if (values !== "absent") for (const [key, value] of values) own.set(key, value);
    else if (files) reading.notes.problem(files.at, `Cannot read ${quoted(name)}: there is no such file in the source`);
  }
  return new Map([...own, ...known]);
}

/** Resolves one path or a list of paths inside the source. */
function textPaths(reading: ComposeReading, node: ComposeNode | undefined, verb: string) {
  if (node === undefined || isNull(node)) return undefined;
  const { notes } = reading;
  const items = node.kind === "list" ? node.items : [node];
  return items.flatMap((item) => {
    const text = textIn(notes, item, "a path");
    if (text === undefined) return [];
    const remote = /^(?:[a-z][a-z0-9+.-]*:|git@)/i.test(text);
    const path = remote ? undefined : insidePath(item.at.file.folder, text);
    if (path !== undefined) return [{ path, name: shownPath(item, path) }];
    notes.problem(item.at, `Cannot ${verb} ${shown(item)}: it is not a file of the source. Put it there`);
    return [];
  });
}

/** Merges an included file; a name in both files must have the same content. */
function joined({ effort, notes }: ComposeReading, written: ComposeMap, included: ComposeMap): ComposeMap {
  const entries = new Map(written.entries);
  for (const section of SECTIONS) {
    const theirs = included.entries.get(section);
    if (theirs === undefined || isNull(theirs)) continue;
    const ours = entries.get(section);
    if (theirs.kind !== "map" || (ours !== undefined && !isNull(ours) && ours.kind !== "map")) {
      notes.problem(theirs.at, `Cannot read ${quoted(section)}: it has to be a map`);
      continue;
    }
    const all = new Map(ours?.kind === "map" ? ours.entries : []);
    effort.spend(all.size);
    for (const [name, node] of theirs.entries) {
      const known = all.get(name);
      if (known === undefined) all.set(name, node);
      else if (!hasSameContent(known, node)) {
        const other = `line ${known.at.line} of ${known.at.file.name}`;
        notes.problem(
          node.at,
          `Cannot include ${quoted(name)} of ${section}: another one is in ${other}. Rename one of them, or change it in an override file`,
        );
      }
    }
    entries.set(section, mapNode(theirs.at, all));
  }
  for (const key of included.entries.keys()) if (!entries.has(key)) entries.set(key, included.entries.get(key)!);
  return { ...written, entries };
}
