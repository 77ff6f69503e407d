import { notFound } from "../../../domain/failure.ts";
import type { Principal } from "../../../domain/identity/permission.ts";
import { findProject } from "../find_project.ts";
import type { DeployKeyPorts } from "./find_deploy_key.ts";

/** Unpins the key of an SSH server for a project; the next fetch pins the one that the server presents then. */
export function forgetHostKey({ deployKeys, projects }: DeployKeyPorts) {
  const find = findProject({ projects });
  return async function (by: Principal, projectId: string, host: string): Promise<void> {
    await find(by, projectId, "project:admin");
    if (!(await deployKeys.forgetHostKey(projectId, host.toLowerCase()))) throw notFound("host key");
  };
}
