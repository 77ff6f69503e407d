import type { YamlReading } from "../../domain/compose/yaml_node.ts";

export type { YamlEntry, YamlNode, YamlProblem, YamlReading, YamlValue } from "../../domain/compose/yaml_node.ts";

/** Reads YAML with its positions. */
export interface YamlReader {
  /**
   * The only document of a text, anchors and aliases resolved; or its first problem, which may quote names of the text and never a value. Never throws, whatever the text, and
   * never takes long or much memory: what would is a problem. What is resolved from it has at most 20,000 values, at most 100 inside each other.
   */
  read(text: string): Promise<YamlReading>;
}
