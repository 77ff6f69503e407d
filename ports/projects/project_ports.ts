import type { DeployKeys } from "./deploy_keys.ts";
import type { HostFolders } from "./host_folders.ts";
import type { KeptSources } from "./kept_sources.ts";
import type { ManifestParser } from "./manifest_parser.ts";
import type { Projects } from "./projects.ts";
import type { Sources } from "./sources.ts";
import type { UploadFiles } from "./upload_files.ts";
import type { UploadSessions } from "./upload_sessions.ts";
import type { Variables } from "./variables.ts";
import type { YamlReader } from "./yaml_reader.ts";

/** The project ports that the application depends on. */
export interface ProjectPorts {
  readonly deployKeys: DeployKeys;
  readonly hostFolders: HostFolders;
  readonly keptSources: KeptSources;
  readonly manifestParser: ManifestParser;
  readonly projects: Projects;
  readonly sources: Sources;
  readonly uploadFiles: UploadFiles;
  readonly uploadSessions: UploadSessions;
  readonly variables: Variables;
  readonly yamlReader: YamlReader;
}
