import type { ServiceDockerfile } from "../services/service_spec.ts";
import type { ComposeNode } from "./compose_node.ts";
import { textIn } from "./field_values.ts";
import { insidePath } from "./inside_path.ts";
import { knownKeys } from "./known_keys.ts";
import { shown } from "./notes.ts";
import { keyedTexts } from "./read_environment.ts";
import { BUILD_KEYS } from "./service_keys.ts";
import type { ServiceReading } from "./service_reading.ts";

/** Reads how a service is built from the source; adds a problem and returns `undefined` when it cannot be. */
export function readBuild(service: ServiceReading, node: ComposeNode): ServiceDockerfile | undefined {
  const { name, reading } = service;
  const { notes } = reading;
  const keys = knownKeys(notes, node, { rules: BUILD_KEYS, whose: `of "build" of ${name}` });
  const text = (key: string) => {
    const value = keys.get(key);
    return value && textIn(notes, value, `${JSON.stringify(key)} of "build" of ${name}`);
  };
  const written = keys.get("context");
  const context = written ? contextOf(service, written) : node.at.file.folder;
  if (context === undefined) return undefined;
  const inline = text("dockerfile_inline") ?? null;
  const dockerfile = keys.get("dockerfile");
  if (inline !== null && dockerfile) {
    notes.problem(
      dockerfile.at,
      `Cannot build ${name}: both "dockerfile" and "dockerfile_inline" are there. Keep one of them`,
    );
  }
  const args = keyedTexts(service, keys.get("args"), "build.args").filter(([, value]) => value !== undefined);
  return {
    kind: "dockerfile",
    context,
    ...(inline === null && dockerfile ? fileOf(service, context, dockerfile) : { dockerfile: null, text: inline }),
    target: text("target") || null,
    args: Object.fromEntries(args) as Record<string, string>,
  };
}

function contextOf({ name, reading: { notes } }: ServiceReading, node: ComposeNode): string | undefined {
  const text = textIn(notes, node, `"context" of "build" of ${name}`);
  if (text === undefined) return undefined;
  const remote = /^(?:[a-z][a-z0-9+.-]*:|git@|github\.com\/)/i.test(text);
  const path = remote ? undefined : insidePath(node.at.file.folder, text);
  if (path !== undefined) return path;
  const reason = remote ? "its files are fetched from elsewhere" : "its folder is not inside the source";
  notes.problem(node.at, `Cannot build ${name} from ${shown(node)}: ${reason}. Put the files into the source`);
  return undefined;
}

/** Returns the path of a Dockerfile inside the context, or the text of one elsewhere in the source. */
function fileOf(
  { name, reading }: ServiceReading,
  context: string,
  node: ComposeNode,
): { readonly dockerfile: string | null; readonly text: string | null } {
  const nothing = { dockerfile: null, text: null };
  const written = textIn(reading.notes, node, `"dockerfile" of "build" of ${name}`);
  if (written === undefined) return nothing;
  const path = insidePath(context, written);
  if (path === undefined || path === context) {
    reading.notes.problem(
      node.at,
      `Cannot build ${name} with ${shown(node)}: it is not a file of the source. Put it there`,
    );
    return nothing;
  }
  if (context === "" || path.startsWith(`${context}/`)) {
    return { dockerfile: context === "" ? path : path.slice(context.length + 1), text: null };
  }
  const found = reading.text(path);
  if (typeof found === "object") return { dockerfile: null, text: found.text };
  if (found !== "pending") {
    reading.notes.problem(
      node.at,
      `Cannot build ${name} with ${shown(node)}: there is no such file in the source. Correct its path`,
    );
  }
  return nothing;
}
