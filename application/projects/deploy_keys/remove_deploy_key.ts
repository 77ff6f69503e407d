import { notFound } from "../../../domain/failure.ts";
import type { Principal } from "../../../domain/identity/permission.ts";
import { findProject } from "../find_project.ts";
import type { DeployKeyPorts } from "./find_deploy_key.ts";

/** Removes the deploy key of a project with the pinned host keys. */
export function removeDeployKey({ deployKeys, projects }: DeployKeyPorts) {
  const find = findProject({ projects });
  return async function (by: Principal, projectId: string): Promise<void> {
    await find(by, projectId, "project:admin");
    if (!(await deployKeys.remove(projectId))) throw notFound("deploy key");
  };
}
