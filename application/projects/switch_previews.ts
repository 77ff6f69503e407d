import type { Principal } from "../../domain/identity/permission.ts";
import type { PreviewSettings } from "../../domain/projects/previews.ts";
import { previewsOf, type Project } from "../../domain/projects/project.ts";
import type { EndPreviewsPorts } from "../deployments/cleanup/end_previews.ts";
import { endPullRequestPreviews } from "../githost/end_pull_request.ts";
import type { WebhookPorts } from "../githost/webhooks.ts";
import { changeProject, type ChangeProjectPorts } from "./change_project.ts";
import { ensureReported } from "./ensure_reported.ts";
import { findProject } from "./find_project.ts";

export interface SwitchPreviewsPorts extends ChangeProjectPorts, WebhookPorts, EndPreviewsPorts {}

/**
 * Turns previews of pull requests on or off, and sets how many there may be and for how long. Turning them on makes sure
 * that pull requests are reported. Those that the new settings do not allow end.
 */
export function switchPreviews(ports: SwitchPreviewsPorts) {
  const find = findProject(ports);
  const change = changeProject(ports);
  const ensure = ensureReported(ports);
  const end = endPullRequestPreviews(ports);
  return async function (
    by: Principal,
    id: string,
    wanted: Partial<PreviewSettings>,
    signal: AbortSignal,
  ): Promise<Project> {
    const found = await find(by, id, "project:write");
    const { gitOwner: owner, gitRepo: repo } = found.settings;
    const previews = { ...previewsOf(found), ...wanted };
    // Without a repository, the change below refuses it.
    if (previews.enabled && owner && repo) {
      await ensure(by, { owner, repo }, { action: "make previews of pull requests", signal });
    }
    const changed = await change(by, id, { settings: { previews } });
    await end(changed);
    return changed;
  };
}
