import { invalid } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Project } from "../../domain/projects/project.ts";
import { changeProject, type ChangeProjectPorts } from "./change_project.ts";
import { findProject } from "./find_project.ts";

/** Turns auto-deploy on push off; refuses to turn it on as long as no git host reports pushes (no webhooks). */
export function switchAutoDeploy(ports: ChangeProjectPorts) {
  const find = findProject(ports);
  const change = changeProject(ports);
  return async function (by: Principal, id: string, enabled: boolean): Promise<Project> {
    await find(by, id, "project:write");
    if (enabled) {
      throw invalid(
        "auto_deploy_unavailable",
        "Cannot deploy on every push: this version is not connected to a git host, so it receives none. " +
          "Deploy with POST /api/deployments after a push",
      );
    }
    return change(by, id, { settings: { autoDeploy: false } });
  };
}
