import type { YamlReading } from "../../domain/compose/yaml_node.ts";

export type { YamlEntry, YamlNode, YamlProblem, YamlReading, YamlValue } from "../../domain/compose/yaml_node.ts";

/** Parses YAML with source positions. */
export interface YamlReader {
  /**
   * Parses the only document of a text and resolves its anchors and aliases, or returns its first problem, which may
   * quote names from the text but never a value. Never throws on any input, and is bounded in time and memory: input
   * that would exceed the bounds is a problem. The result has at most 20,000 values, nested at most 100 deep.
   */
  read(text: string): Promise<YamlReading>;
}
