import { LibraryYamlReader } from "../../../adapters/yaml/library_yaml_reader.ts";

/** Reads YAML as a server does, but takes all the time that a busy machine needs. */
export function patientYamlReader(): LibraryYamlReader {
  return new LibraryYamlReader({ limitMs: 600_000 });
}
