import type { PortEntry } from "../services/port_notation.ts";
import { portEntry } from "../services/port_notation.ts";
import type { ServiceMount } from "../services/service_spec.ts";
import { composeLayers } from "./compose_layers.ts";
import { type ComposeFile, type ComposeMap, type ComposeNode, isNull } from "./compose_node.ts";
import { ComposeReading } from "./compose_reading.ts";
import { TooMuchEffort } from "./effort.ts";
import { entriesIn, itemsIn, textsIn } from "./field_values.ts";
import { insidePath } from "./inside_path.ts";
import { type ComposeNeed, type LoadedFile, LoadedFiles } from "./loaded_files.ts";
import type { ComposeProblem } from "./notes.ts";
import { readCommand } from "./read_command.ts";
import { readEnvironment } from "./read_environment.ts";
import { readMounts } from "./read_mounts.ts";
import type { ServiceReading } from "./service_reading.ts";

/** Which compose files of a machine to read. All paths are absolute. */
export interface DeclaredOptions {
  /** In the order in which they are merged. */
  readonly files: readonly string[];
  /** The project's folder, which relative paths start from. */
  readonly folder: string;
  /** Files with variables for interpolation; absent: `.env` in the folder. */
  readonly variableFiles?: readonly string[];
}

/** A service as compose files of a machine declare it. */
export interface DeclaredService {
  readonly name: string;
  readonly image: string | null;
  /** The image and the restart policy as they are written, before variables are put in: these may be shown. */
  readonly written: { readonly image: string | null; readonly restart: string | null };
  /** The build context, if it is built. */
  readonly build: string | null;
  readonly command: readonly string[] | null;
  readonly entrypoint: readonly string[] | null;
  readonly environment: Readonly<Record<string, string>>;
  /** `null` if some cannot be read. */
  readonly ports: readonly PortEntry[] | null;
  /** With the engine's names of volumes, and absolute paths; `null` if some cannot be read. */
  readonly mounts: readonly DeclaredMount[] | null;
  /** Whether it has configs or secrets, which are mounted beside these. */
  readonly hasFiles: boolean;
  readonly restart: string | null;
  readonly dependsOn: readonly string[];
  /** The number of containers that it asks for. */
  readonly replicas: number | null;
  readonly profiles: readonly string[];
}

/** A volume, a path or memory that is mounted into a service. */
export interface DeclaredMount {
  readonly type: "volume" | "bind" | "tmpfs";
  /** `null` for an anonymous volume. */
  readonly source: string | null;
  readonly target: string;
  readonly readOnly: boolean;
}

/** What compose files declare, or the files to load first. */
export type Declared =
  | { readonly needs: readonly ComposeNeed[] }
  | { readonly services: ReadonlyMap<string, DeclaredService>; readonly problems: readonly ComposeProblem[] };

/**
 * Reads what compose files of a machine declare, merged, with everything that they include and extend, to compare it
 * with what runs there. Unlike `composeModel`, it accepts whatever Docker Compose accepts.
 */
export function declaredServices(
  loaded: ReadonlyMap<string, LoadedFile>,
  project: string,
  options: DeclaredOptions,
): Declared {
  const files = new LoadedFiles(loaded);
  const reading = new ComposeReading(files);
  try {
    const root = rootOf(reading, options);
    const all = [...entriesOf(root.entries.get("services"))].map(([name, node]): ServiceReading => ({
      name,
      reading,
      keys: entriesOf(node),
      node,
      project: root,
      own: new Map(),
    }));
    const environments = all.map(readEnvironment);
    if (files.needs.length > 0) return { needs: files.needs };
    // Only of the files and their variables: the readers of other keys also refuse what Slipway itself cannot run.
    const { problems } = reading.notes;
    const services = all.map((service, index) => declaredOf(service, project, environments[index]!));
    return { services: new Map(services.map((declared) => [declared.name, declared])), problems };
  } catch (error) {
    if (!(error instanceof TooMuchEffort)) throw error;
    const problem = {
      file: options.files[0] ?? options.folder,
      line: 1,
      message: "Cannot read this: it is too complex",
    };
    return { services: new Map(), problems: [problem] };
  }
}

function rootOf(reading: ComposeReading, { files, folder, variableFiles }: DeclaredOptions): ComposeMap {
  const beside = insidePath(folder, ".env") ?? null;
  const variables = new Map<string, string>();
  for (const path of variableFiles ?? (beside === null ? [] : [beside])) {
    const values = reading.variables(path, { name: path, known: variables });
    if (values !== "absent") for (const [key, value] of values) variables.set(key, value);
  }
  const file: ComposeFile = { name: files[0] ?? folder, folder, variables, variablesFile: beside };
  const paths = files.map((path) => ({ path, name: path, required: { file, line: 1 } }));
  return composeLayers(reading, { paths, folder, variables, variablesFile: beside, chain: [] });
}

/** `project` is the name of the compose project, which the engine's names of volumes begin with. */
function declaredOf(
  service: ServiceReading,
  project: string,
  environment: Readonly<Record<string, string>>,
): DeclaredService {
  const { keys, name, reading } = service;
  const build = keys.get("build");
  return {
    name,
    image: textOf(keys.get("image")),
    written: { image: rawOf(keys.get("image")), restart: rawOf(keys.get("restart")) },
    build: build === undefined || isNull(build) ? null : contextOf(build),
    command: readCommand(withoutNull(service, "command"), "command"),
    entrypoint: readCommand(withoutNull(service, "entrypoint"), "entrypoint"),
    environment,
    ports: portsOf(service),
    mounts: mountsOf(service, project),
    hasFiles: keys.has("configs") || keys.has("secrets"),
    restart: textOf(keys.get("restart")),
    dependsOn: [...entriesIn(reading.notes, keys.get("depends_on"), `"depends_on" of ${name}`).keys()],
    replicas: numberOf(keys.get("scale") ?? entriesOf(keys.get("deploy")).get("replicas")),
    profiles: textsIn(reading.notes, keys.get("profiles"), `"profiles" of ${name}`),
  };
}

/** A key without a value says nothing. */
function withoutNull(service: ServiceReading, key: string): ServiceReading {
  const node = service.keys.get(key);
  if (node === undefined || !isNull(node)) return service;
  const keys = new Map(service.keys);
  keys.delete(key);
  return { ...service, keys };
}

function contextOf(build: ComposeNode): string {
  const context = build.kind === "map" ? build.entries.get("context") : build;
  const text = textOf(context) ?? ".";
  return insidePath(build.at.file.folder, text) ?? text;
}

function portsOf({ keys, name, reading: { notes } }: ServiceReading): readonly PortEntry[] | null {
  const items = itemsIn(notes, keys.get("ports"), `"ports" of ${name}`);
  const entries = items.flatMap((item) => {
    const read = portEntry(item.kind === "map" ? shortForm(item) : (textOf(item) ?? ""));
    return "value" in read ? [read.value] : [];
  });
  return entries.length === items.length ? entries : null;
}

/** Writes the long form of a port in its short form. */
function shortForm({ entries }: ComposeMap): string {
  const part = (key: string) => textOf(entries.get(key)) ?? "";
  const address = part("host_ip");
  const inBrackets = address.includes(":") ? `[${address}]` : address;
  const published = part("published");
  const outside = address === "" ? (published === "" ? "" : `${published}:`) : `${inBrackets}:${published}:`;
  return `${outside}${part("target")}/${part("protocol") || "tcp"}`;
}

function mountsOf(service: ServiceReading, project: string): readonly DeclaredMount[] | null {
  const { keys, name, reading } = service;
  const items = ["volumes", "tmpfs"].flatMap((key) => itemsIn(reading.notes, keys.get(key), `"${key}" of ${name}`));
  const mounts = readMounts(service);
  if (mounts.length < items.length) return null;
  return mounts.map((mount) => declaredMount(mount, project, service.project));
}

function declaredMount(mount: ServiceMount, project: string, root: ComposeMap): DeclaredMount {
  const { target } = mount;
  if (mount.kind === "memory") return { type: "tmpfs", source: "", target, readOnly: false };
  const { readOnly } = mount;
  if (mount.kind === "host") return { type: "bind", source: mount.path, target, readOnly };
  if (mount.kind === "source") return { type: "bind", source: `/${mount.path}`, target, readOnly };
  if (mount.name === null) return { type: "volume", source: null, target, readOnly };
  return {
    type: "volume",
    source: mount.external ? mount.name : engineName(mount.name, project, root),
    target,
    readOnly,
  };
}

/** The engine's name of a volume that a compose file names: with the name of the project before it. */
function engineName(name: string, project: string, root: ComposeMap): string {
  const declared = entriesOf(root.entries.get("volumes")).get(name);
  return textOf(declared?.kind === "map" ? declared.entries.get("name") : undefined) ?? `${project}_${name}`;
}

function entriesOf(node: ComposeNode | undefined): ReadonlyMap<string, ComposeNode> {
  return node?.kind === "map" ? node.entries : new Map();
}

function textOf(node: ComposeNode | undefined): string | null {
  return node?.kind === "scalar" && !isNull(node) ? node.text : null;
}

function rawOf(node: ComposeNode | undefined): string | null {
  return node?.kind === "scalar" && !isNull(node) ? node.raw : null;
}

function numberOf(node: ComposeNode | undefined): number | null {
  const text = textOf(node);
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}
