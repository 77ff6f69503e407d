import type { JsonObject } from "../../text/json_text.ts";
import { memberOf, textOf } from "../../text/json_text.ts";
import type { PackageManager } from "./packages.ts";
import type { Workspace } from "./workspace.ts";
import type { ProjectFolder } from "../../project_folder.ts";

/** A package that is being inspected. */
export interface NodePackage {
  readonly folder: ProjectFolder;
  readonly manifest: JsonObject;
  /** The workspace that it belongs to. */
  readonly workspace: Workspace | undefined;
  readonly manager: PackageManager;
  /** Whether it contains other packages that may be the ones to deploy. */
  readonly holdsOthers: boolean;
}

const KINDS = ["dependencies", "devDependencies", "optionalDependencies"] as const;

/** Returns whether a package is a dependency; includes development dependencies unless `kinds` leaves them out. */
export function dependsOn(manifest: JsonObject, name: string, kinds: readonly string[] = KINDS): boolean {
  return kinds.some((kind) => Object.hasOwn(memberOf(manifest, kind) ?? {}, name));
}

/** The version of a dependency, as written. */
export function dependencyVersion(manifest: JsonObject, name: string): string | undefined {
  return KINDS.map((kind) => textOf(memberOf(manifest, kind), name)).find((version) => version !== undefined);
}

/** The text of a script. */
export function scriptText(manifest: JsonObject, name: string): string | undefined {
  return textOf(memberOf(manifest, "scripts"), name);
}

/** Returns whether a package is a member of a workspace, and not its root. */
export function isMember({ folder, workspace }: Pick<NodePackage, "folder" | "workspace">): boolean {
  return workspace !== undefined && workspace.root.path !== folder.path;
}
