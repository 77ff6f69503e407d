import type { ComposeFile, ComposeMap, ComposeNode } from "./compose_node.ts";
import type { ComposeReading } from "./compose_reading.ts";
import { textIn } from "./field_values.ts";
import { folderOf, insidePath } from "./inside_path.ts";
import { knownKeys, readKeys } from "./known_keys.ts";
import { longForms } from "./long_forms.ts";
import { mergedNodes, settled } from "./merged_nodes.ts";
import { nearestWord } from "../nearest_word.ts";
import { quoted, shown, shownPath } from "./notes.ts";

/** A file and its parsed content. */
interface Written {
  readonly path: string;
  readonly written: ComposeMap;
}

/** Merges every service of a file over the service that it extends, in this file or another one. */
export function extendedServices(reading: ComposeReading, { path, written }: Written): ComposeMap {
  const services = written.entries.get("services");
  if (services?.kind !== "map") return written;
  const extension = new Extension(reading);
  const entries = [...services.entries.keys()].map((name) => [name, extension.of({ path, written }, name)!] as const);
  return { ...written, entries: new Map(written.entries).set("services", { ...services, entries: new Map(entries) }) };
}

/** Resolves `extends`, once per service. */
class Extension {
  readonly #reading: ComposeReading;
  readonly #known = new Map<string, ComposeNode>();
  readonly #open = new Set<string>();
  readonly #files = new Map<string, ComposeMap>();

  constructor(reading: ComposeReading) {
    this.#reading = reading;
  }

  /** Returns a service merged with what it extends; `undefined` when no service has that name. */
  of(file: Written, name: string): ComposeNode | undefined {
    const id = `${file.path}#${name}`;
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const services = file.written.entries.get("services");
    const own = services?.kind === "map" ? services.entries.get(name) : undefined;
    const extension = own?.kind === "map" ? own.entries.get("extends") : undefined;
    if (own?.kind !== "map" || extension === undefined) return own;
    this.#open.add(id);
    const entries = new Map(own.entries);
    entries.delete("extends");
    const rest = { ...own, entries };
    const base = this.#base(file, name, extension);
    if (base) this.#reading.effort.spendOn(base);
    // An unresolved `extends` stays, so that the keys it would have provided are not reported as missing too.
    const whole = base ? mergedNodes(this.#reading.notes, settled(base), rest, ["services", name]) : own;
    this.#open.delete(id);
    const service = { ...whole, at: own.at };
    this.#known.set(id, service);
    return service;
  }

  #base(file: Written, name: string, extension: ComposeNode): ComposeNode | undefined {
    const { notes } = this.#reading;
    const keys = knownKeys(notes, extension, { rules: readKeys("file", "service"), whose: `of "extends" of ${name}` });
    const service = keys.get("service");
    const wanted = service && textIn(notes, service, `"extends" of ${name}`);
    if (service === undefined || wanted === undefined) {
      if (extension.kind === "map" && !service)
        notes.problem(extension.at, `Cannot extend ${name}: no service is named. Add "service"`);
      return undefined;
    }
    const from = keys.get("file");
    const other = from === undefined ? file : this.#file(from, name);
    if (other === undefined) return undefined;
    if (this.#open.has(`${other.path}#${wanted}`)) {
      notes.problem(extension.at, `Cannot extend ${name}: it extends itself through other services. Break the cycle`);
      return undefined;
    }
    const base = this.of(other, wanted);
    // A file that could not be read is already reported.
    const loaded = this.#reading.files.get(other.path, "yaml");
    if (base === undefined && typeof loaded === "object" && "root" in loaded) {
      const services = other.written.entries.get("services");
      const near = nearestWord(
        service.kind === "scalar" ? service.raw : "",
        services?.kind === "map" ? services.entries.keys() : [],
      );
      const next = near === undefined ? "Name one that is there" : `Did you mean ${quoted(near)}?`;
      notes.problem(
        extension.at,
        `Cannot extend ${name}: there is no service ${shown(service)}${from ? ` in ${shown(from)}` : ""}. ${next}`,
      );
    }
    return base;
  }

  #file(node: ComposeNode, name: string): Written | undefined {
    const { notes } = this.#reading;
    const text = textIn(notes, node, `the file that ${name} extends`);
    if (text === undefined) return undefined;
    const { file } = node.at;
    const path = insidePath(file.folder, text);
    if (path === undefined) {
      notes.problem(node.at, `Cannot extend ${name} from ${shown(node)}: it is not a file of the source. Put it there`);
      return undefined;
    }
    const known = this.#files.get(path);
    if (known !== undefined) return { path, written: known };
    const other: ComposeFile = { ...file, name: shownPath(node, path), folder: folderOf(path) };
    const written = longForms(this.#reading.yaml(path, other, node.at));
    this.#files.set(path, written);
    return { path, written };
  }
}
