import type { Principal } from "../../domain/identity/permission.ts";
import { checkVariableKeys, type Variable } from "../../domain/projects/variable.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import type { Variables, VariablesChange } from "../../ports/projects/variables.ts";
import { findProject } from "./find_project.ts";

export interface ChangeVariablesPorts {
  readonly clock: Clock;
  readonly projects: Projects;
  readonly variables: Variables;
}

/** Writes and deletes variables of one of a project's sets, by default production's, atomically; returns the set. */
export function changeVariables({ clock, projects, variables }: ChangeVariablesPorts) {
  const find = findProject({ projects });
  return async function (
    by: Principal,
    projectId: string,
    { upserts, deletes, environment = "production" }: Omit<VariablesChange, "at">,
  ): Promise<readonly Variable[]> {
    await find(by, projectId, "project:write");
    checkVariableKeys(
      upserts.map(({ key }) => key),
      deletes,
    );
    await variables.change(projectId, { upserts, deletes, at: clock.now(), environment });
    return variables.list(projectId, environment);
  };
}
