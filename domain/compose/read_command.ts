import { shellWords } from "../services/shell_words.ts";
import { notationIn, textsIn } from "./field_values.ts";
import type { ServiceReading } from "./service_reading.ts";

/** Reads the words of a command, splitting a single line like a shell; `null` keeps the default of the image. */
export function readCommand(
  { keys, name, reading: { notes } }: ServiceReading,
  key: "command" | "entrypoint",
): readonly string[] | null {
  const node = keys.get(key);
  if (node === undefined) return null;
  const what = `"${key}" of ${name}`;
  if (node.kind === "scalar") return notationIn(notes, node, { what, read: shellWords }) ?? null;
  return textsIn(notes, node, what);
}
