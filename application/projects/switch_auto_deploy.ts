import type { Principal } from "../../domain/identity/permission.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { WebhookPorts } from "../githost/webhooks.ts";
import { changeProject, type ChangeProjectPorts } from "./change_project.ts";
import { ensureReported } from "./ensure_reported.ts";
import { findProject } from "./find_project.ts";

export interface SwitchAutoDeployPorts extends ChangeProjectPorts, WebhookPorts {}

/** Turns auto-deploy on push on or off. Turning it on makes sure that pushes are reported. */
export function switchAutoDeploy(ports: SwitchAutoDeployPorts) {
  const find = findProject(ports);
  const change = changeProject(ports);
  const ensure = ensureReported(ports);
  return async function (by: Principal, id: string, enabled: boolean, signal: AbortSignal): Promise<Project> {
    const { settings } = await find(by, id, "project:write");
    const { gitOwner: owner, gitRepo: repo } = settings;
    // Without a repository, the change below refuses it.
    if (enabled && owner && repo) await ensure(by, { owner, repo }, { action: "deploy on every push", signal });
    return change(by, id, { settings: { autoDeploy: enabled } });
  };
}
