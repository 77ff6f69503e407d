import type { ComposeFile, ComposeMap, Place } from "./compose_node.ts";
import { mapNode } from "./compose_node.ts";
import { Effort } from "./effort.ts";
import { envFile } from "./env_file.ts";
import type { ExpansionBudget, Variables } from "./interpolation.ts";
import type { LoadedFiles } from "./loaded_files.ts";
import { Notes } from "./notes.ts";
import { placedNodes } from "./placed_nodes.ts";

/** The interpolation budget of the whole project, in characters. */
const MOST_TEXT = 4_194_304;

/** Options for parsing an env file. */
interface EnvFileRequest {
  /** The name in messages. */
  readonly name: string;
  /**
   * Where a value refers to a variable, `known` takes precedence over the file's own lines, and `earlier` comes after
   * them.
   */
  readonly known: Variables;
  readonly earlier?: Variables;
  readonly raw?: boolean;
}

/** The state shared while a compose project is parsed: files, notes and limits. */
export class ComposeReading {
  readonly files: LoadedFiles;
  readonly notes = new Notes();
  readonly budget: ExpansionBudget = { left: MOST_TEXT };
  readonly effort = new Effort();

  constructor(files: LoadedFiles) {
    this.files = files;
  }

  /**
   * Parses a YAML file. Returns an empty map when it is absent (a problem at `from`, if given), invalid (a problem), or
   * not loaded yet.
   */
  yaml(path: string, file: ComposeFile, from?: Place): ComposeMap {
    const nothing = mapNode({ file, line: 1 });
    const loaded = this.files.get(path, "yaml");
    if (loaded === "absent") {
      if (from) this.notes.problem(from, `Cannot read ${file.name}: there is no such file in the source`);
      return nothing;
    }
    if (loaded === "pending" || "text" in loaded || "binary" in loaded) return nothing;
    if ("problem" in loaded) {
      this.notes.problem({ file, line: loaded.problem.line }, loaded.problem.message);
      return nothing;
    }
    const root = placedNodes(loaded.root, { file, notes: this.notes, budget: this.budget, effort: this.effort });
    if (root.kind === "map") return root;
    this.notes.problem(root.at, "Cannot read this as a compose file: it has no keys such as services");
    return nothing;
  }

  /** Returns the text of a file, or that it is absent, binary, or not loaded yet. */
  text(path: string): { readonly text: string } | "absent" | "binary" | "pending" {
    const loaded = this.files.get(path, "text");
    if (loaded === "absent" || loaded === "pending") return loaded;
    return "text" in loaded ? loaded : "binary";
  }

  /** Parses an env file of `KEY=value` lines; returns `"absent"` when there is none. */
  variables(
    path: string,
    { name, known, earlier, raw = false }: EnvFileRequest,
  ): ReadonlyMap<string, string> | "absent" {
    const found = this.text(path);
    if (found === "absent") return found;
    const file = { name, folder: "", variables: new Map(), variablesFile: null };
    if (found === "pending") return new Map();
    if (found === "binary" || found.text.includes("\0")) {
      this.notes.problem({ file, line: 1 }, "Cannot read this file: it is not text");
      return new Map();
    }
    this.effort.spend(found.text.split("\n").length);
    const { values, problems, warnings } = envFile(found.text, { variables: known, earlier, budget: this.budget, raw });
    for (const { line, message } of problems) this.notes.problem({ file, line }, message);
    for (const { line, message } of warnings) this.notes.warning({ file, line }, message);
    return values;
  }
}
