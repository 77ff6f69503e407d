import { declaredServices, type DeclaredOptions } from "../../domain/compose/declared_services.ts";
import { type ComposeNeed, fileKey, type LoadedFile } from "../../domain/compose/loaded_files.ts";
import type { ComposeGroup } from "../../domain/migration/compose_group.ts";
import type { ProjectFiles } from "../../domain/migration/stack.ts";
import type { YamlReader } from "../../ports/projects/yaml_reader.ts";
import type { ServerConnection, UnreadableFile } from "../../ports/servers/server_connections.ts";

const MAX_FILES = 50;
const FILE_BYTES = 524_288;
const ALL_BYTES = 4_194_304;
const MAX_PROBLEMS = 5;

const WHY: Readonly<Record<UnreadableFile, string>> = {
  absent: "it is gone",
  forbidden: "the SSH user may not read it",
  no_answer: "reading it takes too long",
  no_file: "it is not a file",
  too_large: `it is larger than ${FILE_BYTES / 1_024} KiB`,
};

/** The connection to read from, and what ends it. */
interface Reading {
  readonly connection: Pick<ServerConnection, "readFile">;
  readonly signal: AbortSignal;
}

/** Reads the compose files of a project on its server, with everything that they refer to. */
export function readComposeFiles({ yamlReader }: { readonly yamlReader: YamlReader }) {
  return async function (group: ComposeGroup, reading: Reading): Promise<ProjectFiles> {
    if (group.configFiles.length > MAX_FILES) {
      const warning = `${group.name}: cannot compare it with its compose files: there are more than ${MAX_FILES}`;
      return { services: new Map(), warnings: [warning], isComplete: false };
    }
    const files = new Files(yamlReader, reading);
    const missing: string[] = [];
    for (const path of group.configFiles) {
      const why = await files.load({ path, as: "yaml" });
      if (why) missing.push(cannotCompare(group, path, why));
    }
    if (group.configFiles.length === 0) {
      missing.push(`${group.name}: cannot compare it with its compose files: it does not say where they are`);
    }
    // Without one of several files, everything that it changes would look like a difference.
    if (missing.length > 0) return notCompared(...missing);
    return compared(group, files);
  };
}

function cannotCompare({ name }: ComposeGroup, path: string, why: UnreadableFile): string {
  return `${name}: cannot compare it with ${path}: ${WHY[why]}`;
}

function notCompared(...warnings: readonly string[]): ProjectFiles {
  return { services: new Map(), warnings, isComplete: false };
}

async function compared(group: ComposeGroup, files: Files): Promise<ProjectFiles> {
  const options: DeclaredOptions = {
    files: group.configFiles,
    folder: group.workingDir ?? folderOf(group.configFiles[0]!),
    ...(group.variableFiles && { variableFiles: group.variableFiles }),
  };
  for (;;) {
    const declared = declaredServices(files.loaded, group.name, options);
    if ("services" in declared) {
      const { problems, services } = declared;
      const told = problems.slice(0, MAX_PROBLEMS).map(({ file, line, message }) => `${file}:${line}: ${message}`);
      const warnings = told.map((problem) => `${group.name}: ${problem}`);
      return { services: problems.length > 0 ? new Map() : services, warnings, isComplete: problems.length === 0 };
    }
    if (files.count + declared.needs.length > MAX_FILES || files.isFull) {
      const why = `they refer to more than ${MAX_FILES} files, or to more than ${ALL_BYTES} bytes`;
      return notCompared(`${group.name}: cannot compare it with its compose files: ${why}`);
    }
    for (const need of declared.needs) {
      const why = await files.load(need);
      // Without its variables, everything that they set would look like a difference. A file may be absent, though.
      if (why && why !== "absent") return notCompared(cannotCompare(group, need.path, why));
    }
  }
}

/** The files that were read so far. */
class Files {
  readonly loaded = new Map<string, LoadedFile>();
  readonly #yamlReader: YamlReader;
  readonly #reading: Reading;
  #bytes = 0;
  count = 0;

  constructor(yamlReader: YamlReader, reading: Reading) {
    this.#yamlReader = yamlReader;
    this.#reading = reading;
  }

  get isFull(): boolean {
    return this.#bytes > ALL_BYTES;
  }

  /** Reads a file, or returns why that is not possible: it then counts as absent. */
  async load(need: ComposeNeed): Promise<UnreadableFile | undefined> {
    const { connection, signal } = this.#reading;
    const found = await connection.readFile(need.path, { maxBytes: FILE_BYTES, signal });
    this.count += 1;
    if (typeof found === "string") {
      this.loaded.set(fileKey(need), "absent");
      return found;
    }
    this.#bytes += found.length;
    this.loaded.set(fileKey(need), await this.#parsed(need, found));
    return undefined;
  }

  async #parsed({ as }: ComposeNeed, bytes: Uint8Array): Promise<LoadedFile> {
    const text = new TextDecoder("utf-8").decode(bytes);
    return as === "text" ? { text } : this.#yamlReader.read(text);
  }
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}
