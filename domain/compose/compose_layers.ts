import { type ComposeFile, type ComposeMap, type ComposeNode, mapNode } from "./compose_node.ts";
import type { ComposeReading } from "./compose_reading.ts";
import { extendedServices } from "./extended_services.ts";
import { importedFiles } from "./imported_files.ts";
import type { LayerRequest } from "./layer_request.ts";
import { longForms } from "./long_forms.ts";
import { mergedNodes, settled } from "./merged_nodes.ts";

/**
 * Merges compose files in order into one map, each with the files that it includes and the services that it extends.
 */
export function composeLayers(reading: ComposeReading, { paths, chain, ...place }: LayerRequest): ComposeMap {
  let all: ComposeMap | undefined;
  for (const { path, name, required } of paths) {
    const file: ComposeFile = { name, ...place };
    const written = longForms(reading.yaml(path, file, required ?? undefined));
    const extended = extendedServices(reading, { path, written });
    const own = importedFiles(reading, extended, { chain: [...chain, path], read: composeLayers });
    if (all !== undefined) reading.effort.spendOn(all);
    all = asMap(all === undefined ? settled(own) : mergedNodes(reading.notes, all, own));
  }
  return all ?? mapNode({ file: { name: "", ...place }, line: 1 });
}

function asMap(node: ComposeNode): ComposeMap {
  return node.kind === "map" ? node : mapNode(node.at);
}
