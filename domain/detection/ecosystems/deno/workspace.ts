import { commentedJsonObject, type JsonObject, objectOf } from "../../text/json_text.ts";
import { plainPath } from "../../plain_names.ts";
import type { ProjectFolder } from "../../project_folder.ts";

const CONFIGS = ["deno.json", "deno.jsonc"];
const MAX_MEMBERS = 200;

/** The folders of the members that a Deno workspace names. */
export function denoMembers(root: ProjectFolder): string[] {
  const config = configOf(root);
  const written: unknown = config?.["workspace"] ?? config?.["workspaces"];
  const list: unknown = Array.isArray(written) ? written : objectOf(written)?.["members"];
  const named = (Array.isArray(list) ? list.slice(0, MAX_MEMBERS) : []).filter((path) => typeof path === "string");
  return named.flatMap((path) => (path.endsWith("/*") ? foldersIn(root, path.slice(0, -2)) : (plainPath(path) ?? [])));
}

/** Returns the workspace that a folder is a member of, and not the root. */
export function denoWorkspace(
  folder: ProjectFolder,
): { readonly root: ProjectFolder; readonly config: JsonObject } | undefined {
  const root = folder
    .outward()
    .slice(1)
    .find((place) => denoMembers(place).includes(below(place, folder)));
  return root && { root, config: configOf(root) ?? {} };
}

function below(root: ProjectFolder, folder: ProjectFolder): string {
  return root.path === "" ? folder.path : folder.path.slice(root.path.length + 1);
}

function configOf(folder: ProjectFolder): JsonObject | undefined {
  const path = folder.first(CONFIGS);
  return path === undefined ? undefined : commentedJsonObject(folder.text(path) ?? "");
}

function foldersIn(root: ProjectFolder, named: string): string[] {
  const path = plainPath(named);
  if (path === undefined) return [];
  return root
    .at(path)
    .folders()
    .slice(0, MAX_MEMBERS)
    .map((name) => `${path}/${name}`);
}
