import { LibraryYamlReader } from "../../../adapters/yaml/library_yaml_reader.ts";

/** Reads YAML as a server does, but with a long timeout for busy machines. */
export function patientYamlReader(): LibraryYamlReader {
  return new LibraryYamlReader({ limitMs: 600_000 });
}
