import { memberOf, objectOf, textOf } from "./json_text.ts";
import type { ProjectFolder } from "./project_folder.ts";

/** Files of version managers for any language; the first that names a tool counts. */
export const TOOL_VERSION_FILES = ["mise.toml", ".mise.toml", ".tool-versions"] as const;

/** The version of a tool that mise or asdf would take, by any of its names there. */
export function toolVersion(folder: ProjectFolder, names: readonly string[]): string | undefined {
  return misesVersion(folder, names) ?? asdfVersion(folder.text(".tool-versions") ?? "", names);
}

function misesVersion(folder: ProjectFolder, names: readonly string[]): string | undefined {
  for (const path of ["mise.toml", ".mise.toml"]) {
    const tools = memberOf(objectOf(folder.data(path)), "tools");
    for (const name of names) {
      const version = textOf(tools, name) ?? textOf(memberOf(tools, name), "version") ?? firstOf(tools?.[name]);
      if (version !== undefined) return version;
    }
  }
  return undefined;
}

function firstOf(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" ? first : typeof first === "number" ? String(first) : undefined;
}

function asdfVersion(text: string, names: readonly string[]): string | undefined {
  for (const line of text.split("\n")) {
    const [name, version] = line.replace(/#.*/, "").trim().split(/\s+/, 2);
    if (name !== undefined && version !== undefined && names.includes(name)) return version;
  }
  return undefined;
}

/** The first line of a file that holds one version, such as `.nvmrc`. */
export function versionFile(folder: ProjectFolder, path: string): string | undefined {
  const line = folder
    .text(path)
    ?.split("\n")
    .find((written) => written.trim() !== "" && !written.startsWith("#"));
  return line?.trim().slice(0, 100);
}
