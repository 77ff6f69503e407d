import type { ComposeMap, ComposeNode } from "./compose_node.ts";
import type { ComposeReading } from "./compose_reading.ts";

/** A service that is being parsed, with the whole project around it. */
export interface ServiceReading {
  readonly name: string;
  readonly reading: ComposeReading;
  /** The keys that are read; refused, ignored and unknown ones are left out. */
  readonly keys: ReadonlyMap<string, ComposeNode>;
  readonly node: ComposeNode;
  readonly project: ComposeMap;
  /** The variables of the project that are for this service only. */
  readonly own: ReadonlyMap<string, string>;
}

/** Looks up a name in a top-level section of the file. */
export function declared({ project }: ServiceReading, section: string, name: string): ComposeNode | undefined {
  const entries = project.entries.get(section);
  return entries?.kind === "map" ? entries.entries.get(name) : undefined;
}
