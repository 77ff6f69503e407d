import { memberOf, objectOf, textOf } from "./text/json_text.ts";
import type { ProjectFolder } from "./project_folder.ts";

/** Files of version managers for any language; the first one that names a tool wins. */
export const TOOL_VERSION_FILES = ["mise.toml", ".mise.toml", ".tool-versions"] as const;
/** Every ecosystem parses these files, so anything longer than a hand-written one is cut off. */
const MAX_LENGTH = 20_000;

/** The version of a tool that mise or asdf would use, by any of its names, in this folder or an ancestor. */
export function toolVersion(folder: ProjectFolder, names: readonly string[]): string | undefined {
  for (const place of folder.outward()) {
    const version = misesVersion(place, names) ?? asdfVersion(place.text(".tool-versions") ?? "", names);
    if (version !== undefined) return version.replace(/^prefix:/, "").trim();
  }
  return undefined;
}

function misesVersion(folder: ProjectFolder, names: readonly string[]): string | undefined {
  for (const path of ["mise.toml", ".mise.toml"]) {
    const tools = memberOf(objectOf(folder.data(path)), "tools");
    // A tool may carry the prefix of the mise backend that installs it.
    for (const name of names.flatMap((plain) => [plain, `core:${plain}`])) {
      const version = tools !== undefined && Object.hasOwn(tools, name) ? versionIn(tools[name]) : undefined;
      if (version !== undefined) return version;
    }
  }
  return undefined;
}

/** `"22"`, `22`, `{ version = "22" }`, or a list that begins with one of these. */
function versionIn(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof first === "number") return String(first);
  if (typeof first === "string" && first.trim() !== "") return first;
  return textOf(objectOf(first), "version");
}

function asdfVersion(text: string, names: readonly string[]): string | undefined {
  for (const line of text.slice(0, MAX_LENGTH).split("\n")) {
    const [name, version] = line.replace(/#.*/, "").trim().split(/\s+/, 2);
    if (name !== undefined && version !== undefined && names.includes(name)) return version;
  }
  return undefined;
}

/** The first line that is not blank or a comment in a file with one version, such as `.nvmrc`. */
export function versionFile(folder: ProjectFolder, path: string): string | undefined {
  const line = folder
    .text(path)
    ?.slice(0, MAX_LENGTH)
    .split("\n")
    .find((written) => !/^\s*(?:#|$)/.test(written));
  return line
    ?.replace(/^\uFEFF/, "")
    .trim()
    .slice(0, 100);
}
