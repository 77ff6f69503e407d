import { composeModel, type ComposeOptions } from "../../../domain/compose/compose_model.ts";
import { type ComposeNeed, fileKey, type LoadedFile } from "../../../domain/compose/loaded_files.ts";
import type { ComposeProblem } from "../../../domain/compose/notes.ts";
import { type Failure, invalid } from "../../../domain/failure.ts";
import type { Secret } from "../../../domain/secret.ts";
import type { ServiceSpec } from "../../../domain/services/service_spec.ts";
import type { ReleaseFiles } from "../../../ports/deployments/release_folders.ts";
import type { YamlReader } from "../../../ports/projects/yaml_reader.ts";

const MAX_FILES = 50;
/** Includes files that are looked for and absent. */
const MAX_LOOKS = 500;
const FILE_KIB = 512;
const ALL_BYTES = 4_194_304;
const MAX_LISTED = 10;

export interface LoadComposePorts {
  readonly yamlReader: YamlReader;
  readonly releaseFolders: Pick<ReleaseFiles, "read">;
}

/** Selects the compose file of a source. */
export interface LoadComposeOptions {
  /** The folder of the project inside the source: empty, or like `apps/shop/`. */
  readonly root: string;
  /** The compose file, relative to `root`. */
  readonly file: string;
  /** The variables of the project. */
  readonly variables: ReadonlyMap<string, Secret>;
}

/** The services of a compose file, with warnings about ignored parts. */
export interface LoadedCompose {
  readonly services: readonly ServiceSpec[];
  readonly warnings: readonly string[];
}

/**
 * Reads the services of a compose file with all files that it refers to; their paths are relative to the source.
 * Rejects with one `invalid` failure, code `compose_invalid`, that lists the problems by file and line and shows no
 * value of a variable.
 */
export function loadCompose({ yamlReader, releaseFolders }: LoadComposePorts) {
  return async function (deploymentId: string, options: LoadComposeOptions): Promise<LoadedCompose> {
    const variables = new Map(Array.from(options.variables, ([key, value]) => [key, value.reveal()]));
    const meant: ComposeOptions = { root: options.root, file: options.file, variables };
    const loaded = new Map<string, LoadedFile>();
    let left = ALL_BYTES;
    let found = 0;
    const load = async ({ path, as }: ComposeNeed): Promise<LoadedFile> => {
      const bytes = await releaseFolders.read(deploymentId, path, {
        maxBytes: FILE_KIB * 1_024,
        tooLarge: () => tooLarge(path),
      });
      if (bytes === undefined) return "absent";
      left -= bytes.length;
      found += 1;
      if (left < 0 || found > MAX_FILES) throw tooMuch(options.file);
      const text = textOf(bytes);
      if (as === "yaml") return text === undefined ? NOT_TEXT : readYaml(yamlReader, text);
      return text === undefined ? { binary: true } : { text };
    };
    for (;;) {
      const model = composeModel(loaded, meant);
      if ("services" in model) return { services: model.services, warnings: model.warnings };
      if ("problems" in model) throw problemsOf(model.problems);
      if (loaded.size + model.needs.length > MAX_LOOKS) throw tooMuch(options.file);
      for (const need of model.needs) loaded.set(fileKey(need), await load(need));
    }
  };
}

const NOT_TEXT: LoadedFile = { problem: { line: 1, message: "Cannot read this file: it is not text in UTF-8" } };

async function readYaml(reader: YamlReader, text: string): Promise<LoadedFile> {
  const read = await reader.read(text);
  return "problem" in read ? (conflictIn(text) ?? read) : read;
}

/** Reports the first merge conflict marker, if there is one. */
function conflictIn(text: string): LoadedFile | undefined {
  const line = text.split("\n").findIndex((each) => each.startsWith("<<<<<<< "));
  if (line < 0) return undefined;
  const message = "Cannot read this: a merge conflict begins here. Resolve it, and remove its markers";
  return { problem: { line: line + 1, message } };
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function tooLarge(path: string): Failure {
  const next = "Split it up, or leave out what is not needed";
  return invalid("compose_invalid", `Cannot use ${path}: it is larger than the limit of ${FILE_KIB} KiB. ${next}`);
}

function tooMuch(file: string): Failure {
  const reason = `it refers to more than ${MAX_FILES} files, or to more than ${ALL_BYTES} bytes`;
  return invalid("compose_invalid", `Cannot use ${file}: ${reason}. Split the project up`);
}

function problemsOf(problems: readonly ComposeProblem[]): Failure {
  const listed = problems.slice(0, MAX_LISTED);
  const more = problems.length > listed.length ? [`and ${problems.length - listed.length} more`] : [];
  const sentences = [...listed.map(({ file, line, message }) => `${file}:${line}: ${message}`), ...more];
  return invalid("compose_invalid", `Cannot use this compose file: ${sentences.join("; ")}`, {
    details: listed.map(({ file, line, message }) => ({ path: `${file}:${line}`, message })),
  });
}
