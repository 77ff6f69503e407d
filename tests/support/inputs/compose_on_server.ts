import { readComposeFiles } from "../../../application/migration/read_compose_files.ts";
import { composeGroups } from "../../../domain/migration/compose_group.ts";
import type { FoundContainer } from "../../../domain/migration/inventory.ts";
import type { ProjectFiles } from "../../../domain/migration/stack.ts";
import { stackOf } from "../../../domain/migration/stack_of.ts";
import type { UnreadableFile } from "../../../ports/servers/server_connections.ts";
import { patientYamlReader } from "../faults/patient_yaml_reader.ts";
import { inventoryOf } from "./found.ts";

/** Files of a machine by absolute path: their text, or why they cannot be read. */
export type ServerFiles = Readonly<Record<string, string | { readonly why: UnreadableFile }>>;

/** Reads the compose files of the only project of these containers; `requested` lists the paths that were read. */
export async function filesOnServer(containers: readonly FoundContainer[], files: ServerFiles) {
  const requested: string[] = [];
  const connection = {
    readFile: async (path: string) => {
      requested.push(path);
      const file = files[path] ?? { why: "absent" as const };
      return typeof file === "string" ? new TextEncoder().encode(file) : file.why;
    },
  };
  const read = readComposeFiles({ yamlReader: patientYamlReader() });
  const [group] = composeGroups(containers).groups;
  const found = await read(group!, { connection, signal: new AbortController().signal });
  return { requested, ...found };
}

/** Compares the containers of one project with its compose files; resolves to the differences of each service. */
export async function driftOnServer(containers: readonly FoundContainer[], files: ServerFiles) {
  const { requested: _, ...read } = await filesOnServer(containers, files);
  const all = new Map<string, ProjectFiles>([[composeGroups(containers).groups[0]!.name, read]]);
  const { composeProjects } = stackOf(inventoryOf(containers), all);
  return Object.fromEntries(composeProjects[0]!.services.map(({ drift, name }) => [name, drift]));
}
