import { loadCompose, type LoadComposeOptions } from "../../../application/deployments/sources/load_compose.ts";
import type { Failure } from "../../../domain/failure.ts";
import type { ReadOptions } from "../../../ports/projects/upload_files.ts";
import { patientYamlReader } from "../faults/patient_yaml_reader.ts";

/** Loads `compose.yaml` of these files; `requested` lists the paths that were read. */
export function loadedCompose(files: Readonly<Record<string, string>>, options: Partial<LoadComposeOptions> = {}) {
  const requested: string[] = [];
  const releaseFolders = {
    read: async (_id: string, path: string, { maxBytes, tooLarge }: ReadOptions) => {
      requested.push(path);
      const bytes = files[path] === undefined ? undefined : new TextEncoder().encode(files[path]);
      if (tooLarge && bytes && bytes.length > maxBytes) throw tooLarge();
      return bytes;
    },
  };
  const run = loadCompose({ yamlReader: patientYamlReader(), releaseFolders });
  return { requested, done: run("one", { root: "", file: "compose.yaml", variables: new Map(), ...options }) };
}

/** The failure of loading `compose.yaml` of these files. */
export function composeRefusal(
  files: Readonly<Record<string, string>>,
  options: Partial<LoadComposeOptions> = {},
): Promise<Failure> {
  return loadedCompose(files, options).done.then(
    () => Promise.reject(new Error("It was read")),
    (error: Failure) => error,
  );
}
