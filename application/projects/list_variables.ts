import type { Environment } from "../../domain/deployments/deployment.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Variable } from "../../domain/projects/variable.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import type { Variables } from "../../ports/projects/variables.ts";
import { findProject } from "./find_project.ts";

/** Lists one of a project's sets of variables, by default production's, without secret values. */
export function listVariables({ projects, variables }: { readonly projects: Projects; readonly variables: Variables }) {
  const find = findProject({ projects });
  return async function (by: Principal, projectId: string, environment?: Environment): Promise<readonly Variable[]> {
    await find(by, projectId, "project:read");
    return variables.list(projectId, environment);
  };
}
