import { ownVariables, sharedVariables } from "../projects/service_variables.ts";
import { isServiceName } from "../services/service_name.ts";
import type { ServiceSpec } from "../services/service_spec.ts";
import { composeLayers } from "./compose_layers.ts";
import { type ComposeFile, type ComposeMap, type ComposeNode, isNull, mapNode } from "./compose_node.ts";
import { ComposeReading } from "./compose_reading.ts";
import { TooMuchEffort } from "./effort.ts";
import { entriesIn, textsIn } from "./field_values.ts";
import { folderOf, insidePath } from "./inside_path.ts";
import { joinedServices } from "./joined_services.ts";
import { knownKeys } from "./known_keys.ts";
import { type ComposeNeed, type LoadedFile, LoadedFiles } from "./loaded_files.ts";
import { keptName } from "./named_volume.ts";
import { type ComposeProblem, quoted } from "./notes.ts";
import { checkNetworks } from "./read_networks.ts";
import { readService } from "./read_service.ts";
import { FILE_KEYS, SERVICE_KEYS } from "./service_keys.ts";
import { textLength } from "./text_length.ts";

/** Input of `composeModel`: which compose file to read, and the variables. */
export interface ComposeOptions {
  /** The project's folder inside the source, with a trailing `/`; empty for the source root. */
  readonly root: string;
  /** Relative to `root`. */
  readonly file: string;
  /** Those of single services are added to what the file declares for them; all others are for interpolation. */
  readonly variables: ReadonlyMap<string, string>;
}

/** The services of a compose project, or the files to load first, or the problems found. */
export type ComposeModel =
  | { readonly needs: readonly ComposeNeed[] }
  | { readonly services: readonly ServiceSpec[]; readonly warnings: readonly string[] }
  | { readonly problems: readonly ComposeProblem[]; readonly warnings: readonly string[] };

const USUAL_NAMES = ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"];
const OVERRIDE_NAMES = [
  "compose.override.yml",
  "compose.override.yaml",
  "docker-compose.override.yml",
  "docker-compose.override.yaml",
];
const MAX_SERVICES = 100;
/** Limit for the text of all services together, as an alias or a variable is expanded wherever it is used. */
const MOST_TEXT = 4_194_304;

const TOO_LONG = `Cannot deploy this file: written out, its services are longer than ${MOST_TEXT} characters. Keep large values in files of the image`;
const TOO_MUCH =
  "Cannot read this file: it is too complex, because it names the same files or services too often, or has too many errors. Simplify it";

/**
 * Parses a compose file and all files that it refers to, from files that are already loaded. Returns `needs` while
 * files are missing: the caller loads them and calls again.
 */
export function composeModel(loaded: ReadonlyMap<string, LoadedFile>, options: ComposeOptions): ComposeModel {
  const files = new LoadedFiles(loaded);
  const reading = new ComposeReading(files);
  const path = insidePath("", `${options.root}${options.file}`);
  if (path === undefined || path === "") {
    return {
      problems: [{ file: options.file, line: 1, message: "Cannot read this: it is not a file of the source" }],
      warnings: [],
    };
  }
  try {
    const project = projectOf(reading, path, options);
    const services = servicesOf(reading, project, options);
    if (files.needs.length > 0) return { needs: files.needs };
    if (textLength(services) > MOST_TEXT) reading.notes.problem(project.at, TOO_LONG);
    const { problems, warnings } = reading.notes;
    return problems.length > 0 ? { problems, warnings } : { services, warnings };
  } catch (error) {
    if (!(error instanceof TooMuchEffort)) throw error;
    const { problems, warnings } = reading.notes;
    return { problems: [{ file: path, line: 1, message: TOO_MUCH }, ...problems], warnings };
  }
}

function projectOf(reading: ComposeReading, path: string, options: ComposeOptions): ComposeMap {
  const given = sharedVariables(options.variables);
  const folder = folderOf(path);
  const beside = insidePath(folder, ".env")!;
  const kept = reading.variables(beside, { name: beside, known: given });
  const variables = new Map([...(kept === "absent" ? [] : kept), ...given]);
  const file: ComposeFile = { name: path, folder, variables, variablesFile: beside };
  const first = { path, name: path, required: { file, line: 1 } };
  if (variables.has("COMPOSE_FILE")) {
    reading.notes.warning(
      first.required,
      "Left out the variable COMPOSE_FILE: one compose file is read, and an override file beside it",
    );
  }
  const over = overrideOf(reading, { path, folder, file });
  const paths = [first, ...over.map((other) => ({ path: other, name: other, required: null }))];
  return composeLayers(reading, { paths, folder, variables, variablesFile: beside, chain: [] });
}

/** The override file that compose merges over a compose file with a default name. */
function overrideOf(
  { files, notes }: ComposeReading,
  { path, folder, file }: { readonly path: string; readonly folder: string; readonly file: ComposeFile },
): readonly string[] {
  if (!USUAL_NAMES.includes(path.slice(path.lastIndexOf("/") + 1))) return [];
  const there = OVERRIDE_NAMES.map((name) => insidePath(folder, name)!).filter(
    (other) => files.get(other, "yaml") !== "absent",
  );
  if (there.length > 1)
    notes.warning({ file, line: 1 }, `Left out ${there.slice(1).join(", ")}: only ${there[0]} is merged into it`);
  return there.slice(0, 1);
}

function servicesOf(
  reading: ComposeReading,
  project: ComposeMap,
  { variables }: ComposeOptions,
): readonly ServiceSpec[] {
  const { notes } = reading;
  const sections = knownKeys(notes, project, { rules: FILE_KEYS, whose: "of the file" });
  for (const [name, node] of entriesIn(notes, sections.get("volumes"), '"volumes"')) keptName(notes, node, name);
  for (const section of ["configs", "secrets"]) entriesIn(notes, sections.get(section), `"${section}"`);
  const all = [...entriesIn(notes, sections.get("services"), '"services"')];
  if (all.length === 0 || all.length > MAX_SERVICES) {
    const reason =
      all.length === 0 ? "it names no services. Add one" : `it has more than ${MAX_SERVICES} services. Split it up`;
    const isReported = all.length === 0 && notes.problems.length > 0;
    if (!isReported) notes.problem(sections.get("services")?.at ?? project.at, `Cannot deploy this file: ${reason}`);
    return [];
  }
  const profiles = profilesOf(project);
  const left = new Set<string>();
  const read = all.flatMap(([name, node]) => {
    if (!isServiceName(name)) {
      notes.problem(
        node.at,
        `Cannot use ${quoted(name)} as the name of a service: use up to 63 letters, digits, ".", "_" and "-"`,
      );
      return [];
    }
    if (!isStarted(reading, { name, node, profiles })) {
      left.add(name);
      return [];
    }
    const keys = knownKeys(notes, node, { rules: SERVICE_KEYS, whose: `of ${name}` });
    if (node.kind !== "map" && !isNull(node)) return [];
    return readService({ name, reading, keys, node, project, own: ownVariables(variables, name) }) ?? [];
  });
  checkNetworks(notes, project, new Set(read.flatMap(({ networks }) => networks)));
  if (left.size === all.length)
    notes.problem(
      project.at,
      "Cannot deploy this file: all of its services have profiles. Name some in the variable COMPOSE_PROFILES",
    );
  // A service that failed to parse would only be reported as an unknown dependency here.
  return reading.notes.problems.length > 0 && read.length + left.size < all.length
    ? []
    : joinedServices(notes, read, left);
}

function profilesOf({ at }: ComposeMap): ReadonlySet<string> {
  const written = at.file.variables.get("COMPOSE_PROFILES") ?? "";
  return new Set(written.split(",").map((profile) => profile.trim()));
}

function isStarted(
  { notes }: ComposeReading,
  {
    name,
    node,
    profiles,
  }: { readonly name: string; readonly node: ComposeNode; readonly profiles: ReadonlySet<string> },
): boolean {
  const written = node.kind === "map" ? node.entries.get("profiles") : undefined;
  const named = textsIn(notes, written, `"profiles" of ${name}`);
  if (named.length === 0 || profiles.has("*") || named.some((profile) => profiles.has(profile))) return true;
  const next = "Name one of them in the variable COMPOSE_PROFILES to start it";
  notes.warning((written ?? mapNode(node.at)).at, `Left out ${name}: it is only for profiles. ${next}`);
  return false;
}
