import type { ComposeMap, ComposeNode } from "./compose_node.ts";
import type { ComposeReading } from "./compose_reading.ts";

/** One service while it is read, with what the whole file says. */
export interface ServiceReading {
  readonly name: string;
  readonly reading: ComposeReading;
  /** Its keys that are to be read. */
  readonly keys: ReadonlyMap<string, ComposeNode>;
  readonly node: ComposeNode;
  readonly project: ComposeMap;
}

/** What a section of the file says about one name; `undefined` when nothing is there under that name. */
export function declared({ project }: ServiceReading, section: string, name: string): ComposeNode | undefined {
  const entries = project.entries.get(section);
  return entries?.kind === "map" ? entries.entries.get(name) : undefined;
}
