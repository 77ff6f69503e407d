import type { Principal } from "../../domain/identity/permission.ts";
import { checkVariableKeys, type Variable, type VariableUpsert } from "../../domain/projects/variable.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import type { Variables } from "../../ports/projects/variables.ts";
import { findProject } from "./find_project.ts";

export interface ChangeVariablesPorts {
  readonly clock: Clock;
  readonly projects: Projects;
  readonly variables: Variables;
}

/** Writes and deletes variables of a project atomically; returns the resulting list. */
export function changeVariables({ clock, projects, variables }: ChangeVariablesPorts) {
  const find = findProject({ projects });
  return async function (
    by: Principal,
    projectId: string,
    { upserts, deletes }: { readonly upserts: readonly VariableUpsert[]; readonly deletes: readonly string[] },
  ): Promise<readonly Variable[]> {
    await find(by, projectId, "project:write");
    checkVariableKeys(
      upserts.map(({ key }) => key),
      deletes,
    );
    await variables.change(projectId, { upserts, deletes, at: clock.now() });
    return variables.list(projectId);
  };
}
