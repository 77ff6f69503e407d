import type { ServiceOrigin } from "../services/service_spec.ts";
import { textIn } from "./field_values.ts";
import { shown } from "./notes.ts";
import { readBuild } from "./read_build.ts";
import type { ServiceReading } from "./service_reading.ts";

const IMAGE = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,399}$/;
const POLICIES: Readonly<Record<string, "missing" | "always" | "never">> = {
  always: "always",
  if_not_present: "missing",
  missing: "missing",
  never: "never",
};

/**
 * Reads the image or build of a service, and the name by which other services may use the built image. Adds a problem
 * and returns `undefined` when it is missing or invalid.
 */
export function readOrigin(
  service: ServiceReading,
): { readonly from: ServiceOrigin; readonly builtAs: string | null } | undefined {
  const { keys, name, node, reading } = service;
  const { notes } = reading;
  const written = keys.get("image");
  const reference = written && textIn(notes, written, `"image" of ${name}`)?.trim();
  if (written && reference !== undefined && !IMAGE.test(reference)) {
    notes.problem(
      written.at,
      `Cannot use ${shown(written)} as the image of ${name}: it is not an image name. Write it as in nginx:1.27`,
    );
    return undefined;
  }
  const build = keys.get("build");
  const pull = pullOf(service, build !== undefined);
  if (build) {
    const from = readBuild(service, build);
    return from && { from, builtAs: reference ?? null };
  }
  if (reference !== undefined) return { from: { kind: "image", reference, pull }, builtAs: null };
  if (!written && !keys.has("extends"))
    notes.problem(node.at, `Cannot start ${name}: it has neither an image nor a build. Add one of them`);
  return undefined;
}

function pullOf({ keys, name, reading: { notes } }: ServiceReading, builds: boolean): "missing" | "always" | "never" {
  const node = keys.get("pull_policy");
  const text = node && textIn(notes, node, `"pull_policy" of ${name}`);
  if (!node || text === undefined) return "missing";
  const timed = /^(?:daily|weekly|every_.+)$/.test(text);
  if (!timed && text !== "build" && !Object.hasOwn(POLICIES, text)) {
    notes.problem(
      node.at,
      `Cannot read "pull_policy" of ${name}: ${shown(node)} is none of always, missing, never, build`,
    );
  } else if (builds && text !== "build") {
    notes.warning(node.at, `Left out "pull_policy" of ${name}: it is built`);
  } else if (!builds && text === "build") {
    notes.problem(node.at, `Cannot build ${name}: "pull_policy" asks for it, but how is not known. Add "build"`);
  } else if (timed) {
    notes.warning(
      node.at,
      `The image of ${name} is pulled with every deployment: ${shown(node)} counts as always here`,
    );
    return "always";
  }
  return Object.hasOwn(POLICIES, text) ? POLICIES[text]! : "missing";
}
