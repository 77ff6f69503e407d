import type { Deployment } from "../../domain/deployments/deployment.ts";
import { isRunning, servesAsPreview } from "../../domain/deployments/transitions.ts";
import { previewsOf, type Project } from "../../domain/projects/project.ts";
import { cancellation } from "../deployments/cancel_deployment.ts";
import { endPreviews, type EndPreviewsPorts } from "../deployments/cleanup/end_previews.ts";

/**
 * Ends everything of a pull request that was noted as closed: cancels the deployments that have not finished, and ends its
 * preview. What is too late to cancel ends with the next sweep. Returns how many deployments were concerned.
 */
export function endPullRequest(ports: EndPreviewsPorts) {
  const cancel = cancelPreviews(ports);
  const end = endPullRequestPreviews(ports);
  return async function (project: Project, number: number): Promise<number> {
    const own = (await ports.deployments.ofProject(project.id)).filter(
      ({ pullRequest }) => pullRequest?.number === number,
    );
    await cancel(own);
    await end(project);
    return own.filter((deployment) => isRunning(deployment) || servesAsPreview(deployment)).length;
  };
}

/** Ends the previews of pull requests that the settings of their project do not allow, and those of closed ones. */
export function endPullRequestPreviews(ports: EndPreviewsPorts) {
  const cancel = cancelPreviews(ports);
  const end = endPreviews(ports);
  return async function (project: Project): Promise<void> {
    const ofProject = await ports.deployments.ofProject(project.id);
    const pullRequests = previewsOf(project);
    if (!pullRequests.enabled) await cancel(ofProject.filter(({ pullRequest }) => pullRequest));
    await end(ofProject, { window: Number.POSITIVE_INFINITY, pullRequests });
  };
}

/** Cancels those of some deployments that have not finished. */
export function cancelPreviews({ clock, deployments }: EndPreviewsPorts) {
  return async function (some: readonly Deployment[]): Promise<void> {
    for (const { id } of some.filter(isRunning)) {
      await deployments.change(id, (stored) => (isRunning(stored) ? cancellation(stored, clock.now()) : undefined));
    }
  };
}
