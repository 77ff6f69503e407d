import type { Deployment } from "../../domain/deployments/deployment.ts";
import { isRunning, servesAsPreview } from "../../domain/deployments/transitions.ts";
import { previewsOf, type Project } from "../../domain/projects/project.ts";
import { cancellation } from "../deployments/cancel_deployment.ts";
import { endPreviews, type EndPreviewsPorts } from "../deployments/cleanup/end_previews.ts";

/**
 * Ends everything of a closed pull request: cancels the deployments that have not finished, and ends its preview. One that
 * is too late to cancel ends with the next sweep. Returns how many deployments were concerned.
 */
export function endPullRequest(ports: EndPreviewsPorts) {
  const { clock, deployments } = ports;
  const end = endPullRequestPreviews(ports);
  return async function (project: Project, number: number): Promise<number> {
    const own = (await deployments.ofProject(project.id)).filter(({ pullRequest }) => pullRequest?.number === number);
    const concerned = own.filter((deployment) => isRunning(deployment) || servesAsPreview(deployment));
    for (const { id } of concerned) await deployments.change(id, closed);
    await end(project);
    return concerned.length;
  };

  function closed(deployment: Deployment) {
    const { pullRequest } = deployment;
    if (!pullRequest || pullRequest.closed) return undefined;
    const marked: Deployment = { ...deployment, pullRequest: { ...pullRequest, closed: true } };
    return isRunning(marked) ? cancellation(marked, clock.now()) : { deployment: marked, events: [] };
  }
}

/** Ends the previews of pull requests that the settings of their project do not allow, and those of closed ones. */
export function endPullRequestPreviews(ports: EndPreviewsPorts) {
  const end = endPreviews(ports);
  return async function (project: Project): Promise<void> {
    const rules = { window: Number.POSITIVE_INFINITY, pullRequests: previewsOf(project) };
    await end(await ports.deployments.ofProject(project.id), rules);
  };
}
