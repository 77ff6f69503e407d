import type { ServiceMount } from "../services/service_spec.ts";
import { type ComposeNode, isNull } from "./compose_node.ts";
import { textIn, truthIn } from "./field_values.ts";
import { type KeyRules, knownKeys, leftKeys, readKeys } from "./known_keys.ts";
import { nearestWord } from "../nearest_word.ts";
import { type Notes, quoted, shown } from "./notes.ts";
import { declared, type ServiceReading } from "./service_reading.ts";

type Volume = Extract<ServiceMount, { kind: "volume" }>;

const KEYS: KeyRules = {
  ...readKeys("name", "external", "driver"),
  driver_opts: {
    refused: "volumes use the engine's default driver. Remove it, or name an existing volume with external: true",
  },
  ...leftKeys("it has no effect here", "labels"),
};
const ENGINE_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/;

/** Resolves the name of a volume by the `volumes` section of the file; an anonymous volume stays unchanged. */
export function namedVolume(service: ServiceReading, item: ComposeNode, volume: Volume): Volume | undefined {
  const { name, project, reading } = service;
  if (volume.name === null) return volume;
  const node = declared(service, "volumes", volume.name);
  if (node === undefined) {
    const volumes = project.entries.get("volumes");
    const near = nearestWord(volume.name, volumes?.kind === "map" ? volumes.entries.keys() : []);
    const next =
      near === undefined ? 'Add it to "volumes" of the file, or begin a path with ./' : `Did you mean ${quoted(near)}?`;
    reading.notes.problem(
      item.at,
      `Cannot use a volume of ${name}: ${shownName(item, volume.name)} is not declared. ${next}`,
    );
    return undefined;
  }
  const kept = keptName(reading.notes, node, volume.name);
  return kept && { ...volume, ...kept };
}

function shownName(item: ComposeNode, name: string): string {
  const plain = item.kind !== "scalar" || item.raw === item.text;
  const source = item.kind === "map" ? item.entries.get("source") : undefined;
  if (source) return shown(source);
  return plain ? quoted(name) : shown(item);
}

/** Reads a volume declaration of the file; adds a problem and returns `undefined` when its name is invalid. */
export function keptName(
  notes: Notes,
  node: ComposeNode,
  key: string,
): { readonly name: string; readonly external: boolean } | undefined {
  const keys = knownKeys(notes, node, { rules: KEYS, whose: `of the volume ${key}` });
  const driver = keys.get("driver");
  if (driver?.kind === "scalar" && driver.text !== "local") {
    notes.problem(
      driver.at,
      `Cannot use the driver ${shown(driver)} for the volume ${key}: only the engine's default driver is supported. Remove "driver"`,
    );
  }
  const external = keys.get("external");
  // An old form that is still in use: `external: { name }`.
  const inner = external?.kind === "map" ? external.entries.get("name") : undefined;
  const wanted = inner ?? keys.get("name");
  const outside =
    external !== undefined && (external.kind === "map" || truthIn(notes, external, `"external" of the volume ${key}`));
  if (wanted === undefined || isNull(wanted)) return { name: key, external: outside === true };
  const name = textIn(notes, wanted, `"name" of the volume ${key}`);
  if (name !== undefined && ENGINE_NAME.test(name)) return { name, external: true };
  if (name !== undefined)
    notes.problem(
      wanted.at,
      `Cannot use ${shown(wanted)} as the name of the volume ${key}: use letters, digits, _, . and - only`,
    );
  return undefined;
}
