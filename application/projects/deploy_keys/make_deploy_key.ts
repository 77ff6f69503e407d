import { conflict } from "../../../domain/failure.ts";
import type { Principal } from "../../../domain/identity/permission.ts";
import { newDeployKey, type StoredDeployKey } from "../../../domain/projects/deploy_key.ts";
import type { Clock } from "../../../ports/system/clock.ts";
import { findProject } from "../find_project.ts";
import type { DeployKeyPorts } from "./find_deploy_key.ts";

export interface MakeDeployKeyPorts extends DeployKeyPorts {
  readonly clock: Clock;
}

/**
 * Makes a deploy key for a project; rejects with `deploy_key_exists` when it has one, unless that is to be replaced. The
 * pinned host keys stay.
 */
export function makeDeployKey({ clock, deployKeys, projects }: MakeDeployKeyPorts) {
  const find = findProject({ projects });
  return async function (
    by: Principal,
    projectId: string,
    { replace = false }: { readonly replace?: boolean | undefined } = {},
  ): Promise<StoredDeployKey> {
    const project = await find(by, projectId, "project:write");
    const { deployKey, privateKey } = await newDeployKey(project, clock.now());
    if (!(await deployKeys.put(deployKey, privateKey, { replace }))) throw exists();
    const stored = await deployKeys.find(projectId);
    return { ...deployKey, hostKeys: stored?.hostKeys ?? [] };
  };
}

function exists() {
  const message =
    'Cannot make a deploy key: the project has one already. Send {"replace": true} to replace it; ' +
    "the git server must then be given the new one";
  return conflict("deploy_key_exists", message);
}
