import { notFound } from "../../../domain/failure.ts";
import type { Principal } from "../../../domain/identity/permission.ts";
import type { StoredDeployKey } from "../../../domain/projects/deploy_key.ts";
import type { DeployKeys } from "../../../ports/projects/deploy_keys.ts";
import type { Projects } from "../../../ports/projects/projects.ts";
import { findProject } from "../find_project.ts";

export interface DeployKeyPorts {
  readonly deployKeys: DeployKeys;
  readonly projects: Projects;
}

/** Finds the deploy key of a project, without its private part; rejects with `deploy_key_not_found` when it has none. */
export function findDeployKey({ deployKeys, projects }: DeployKeyPorts) {
  const find = findProject({ projects });
  return async function (by: Principal, projectId: string): Promise<StoredDeployKey> {
    await find(by, projectId, "project:read");
    const key = await deployKeys.find(projectId);
    if (!key) throw notFound("deploy key");
    return key;
  };
}
