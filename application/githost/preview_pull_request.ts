import { NO_COMMIT } from "../../domain/deployments/commit.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { isRunning, servesAsPreview } from "../../domain/deployments/transitions.ts";
import type { PullRequest } from "../../domain/githost/pull_request.ts";
import type { DeliveryDecision } from "../../domain/githost/webhook_delivery.ts";
import { previewsOf, type Project } from "../../domain/projects/project.ts";
import type { PullRequests } from "../../ports/githost/pull_requests.ts";
import { linkedSource } from "../deployments/sources/linked_source.ts";
import type { AdoptedPorts } from "../deployments/adopted_services.ts";
import { refuseAdopted } from "../deployments/refuse_adopted.ts";
import { makeDeployment, planOf } from "../deployments/make_deployment.ts";
import { servicesOf } from "../projects/services_of.ts";
import { carryOutOnce, isDecision } from "./carry_out_once.ts";
import type { DeployPushPorts } from "./deploy_push.ts";
import type { EndPreviewsPorts } from "../deployments/cleanup/end_previews.ts";
import { cancelPreviews, endPullRequest } from "./end_pull_request.ts";
import { limitWaitingForks, supersedeOlder } from "./supersede_older.ts";

export interface PreviewPullRequestPorts extends AdoptedPorts, DeployPushPorts, EndPreviewsPorts {
  readonly pullRequests: PullRequests;
}

const LATER_CHANGE = "A later change of the pull request was reported before this one";

/** Returns the decision about a pull request that does nothing for a project; `undefined` if something has to be done. */
export function ignoredPullRequest(pullRequest: PullRequest, project: Project): DeliveryDecision | undefined {
  const ignored = (reason: string) => ({ ...about(pullRequest, project), decision: "ignored" as const, reason });
  if (!pullRequest.change) return ignored("Only opened, reopened, changed and closed pull requests have an effect");
  if (previewsOf(project).enabled) return undefined;
  // What is left from when previews were on still ends.
  if (pullRequest.change === "closed") return undefined;
  return ignored("The project makes no previews of pull requests (previews are off)");
}

function about({ branch, headSha }: PullRequest, { id, organizationId }: Project) {
  return { projectId: id, organizationId, branch, commitSha: headSha, deploymentId: null };
}

/**
 * Deploys the newest commit of a pull request as its preview, once however often it is reported, or ends the preview of one
 * that was closed. One from a fork waits for the approval of an admin, and gets no variables.
 */
export function previewPullRequest(ports: PreviewPullRequestPorts) {
  const make = makeDeployment(ports);
  const findServices = servicesOf(ports);
  const once = carryOutOnce(ports);
  const end = endPullRequest(ports);
  const cancel = cancelPreviews(ports);
  return async function (pullRequest: PullRequest, project: Project): Promise<DeliveryDecision> {
    const { change, changedAt, fork, headSha, number, repository } = pullRequest;
    const ignored = ignoredPullRequest(pullRequest, project);
    if (ignored || !change) return ignored!;
    const decided = about(pullRequest, project);
    const isLatest = () => ports.pullRequests.note(project, { repository, number, change, changedAt });
    const superseded = { ...decided, decision: "superseded", reason: LATER_CHANGE } as const;
    if (!(await isLatest())) return superseded;
    if (change === "closed") {
      const count = await end(project, number);
      const reason = count > 0 ? "The pull request was closed, and its preview ended" : "The pull request was closed";
      return { ...decided, decision: "applied", reason };
    }
    if (await isDeployed(pullRequest, project))
      return { ...decided, decision: "ignored", reason: "This commit of the pull request was deployed before" };
    try {
      const key = `${project.id} pull ${number} ${change} ${headSha} ${changedAt.toISOString()}`;
      const deployment = await once({ event: "pull_request", repository, key }, () => queued(pullRequest, project));
      if (!deployment) return { ...decided, decision: "ignored", reason: "This change was reported before" };
      // Another change may have been carried out since it was noted.
      if (!(await isLatest())) {
        await cancel([deployment]);
        return superseded;
      }
      await supersedeOlder(ports, deployment);
      if (fork) await limitWaitingForks(ports, deployment, previewsOf(project).max);
      const reason = `Pull request ${number}${deployment.held ? ", which waits for an approval" : ""}`;
      return { ...decided, deploymentId: deployment.id, decision: "deployed", reason };
    } catch (error) {
      if (!isDecision(error)) throw error;
      return { ...decided, decision: "failed", reason: error.message };
    }
  };

  /** A process that was killed may have queued it before it could note that. */
  async function isDeployed({ headSha, number }: PullRequest, { id }: Project): Promise<boolean> {
    const own = (await ports.deployments.ofProject(id)).filter((each) => each.pullRequest?.number === number);
    return own.some((each) => each.commitSha === headSha && (isRunning(each) || servesAsPreview(each)));
  }

  async function queued({ branch, fork, headSha, number }: PullRequest, project: Project): Promise<Deployment> {
    const target = { environment: "preview", pullRequest: { number, fork } } as const;
    await refuseAdopted(ports)(project, target);
    const given = await findServices(project, target);
    const { source } = linkedSource(ports, project, { given, branch: branch ?? undefined });
    return make(project, {
      source: source.kind === "git" ? { ...source, branch, commit: headSha } : source,
      branch,
      commit: { ...NO_COMMIT, commitSha: headSha },
      trigger: "pull_request",
      ...target,
      plan: planOf(project),
      // Waits in the queue, where it keeps no other deployment of the project from starting, unlike a build with a prompt.
      held: fork || (project.settings.requireApproval ?? false),
      own: { requireApproval: false },
      ...(given && { given }),
    });
  }
}
