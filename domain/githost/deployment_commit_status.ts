import type { Deployment, DeploymentStatus } from "../deployments/deployment.ts";
import type { Project } from "../projects/project.ts";
import { servesAsPreview } from "../deployments/transitions.ts";
import { firstSentence } from "./first_sentence.ts";
import { type CommitState, type CommitStatus, MAX_DESCRIPTION } from "./commit_status.ts";

/** The state of each deployment status, and its description where the deployment has no error. */
const STATES: Readonly<Record<DeploymentStatus, readonly [state: CommitState, description: string]>> = {
  queued: ["pending", "Waiting"],
  building: ["pending", "Building"],
  deploying: ["pending", "Deploying"],
  ready: ["success", "Deployed"],
  failed: ["failure", "Failed"],
  partial_failure: ["failure", "Some services did not come up"],
  rejected: ["failure", "Rejected"],
  cancelled: ["error", "Cancelled"],
  superseded: ["error", "Superseded by a newer push"],
};

/** The fields of a deployment that its commit status depends on. */
type Reported = Pick<
  Deployment,
  "artifactAvailable" | "environment" | "error" | "held" | "pullRequest" | "status" | "urls"
>;

/**
 * Returns the commit status that reports a deployment. A failure is described by the first sentence of its error, which
 * contains no secrets; a success links to the deployment's address, else to the project's.
 */
export function deploymentCommitStatus(
  deployment: Reported,
  { slug, url }: Pick<Project, "slug"> & { readonly url: string },
): CommitStatus {
  const { environment, error, status, urls } = deployment;
  const [state, usual] = STATES[status];
  const isOver = isEnded(deployment);
  return {
    state,
    description:
      (state === "failure" && error && firstSentence(error.message, MAX_DESCRIPTION)) || special(deployment) || usual,
    targetUrl: state === "success" && !isOver ? (urls[0] ?? url) : null,
    context: environment === "preview" ? `slipway/${slug}/preview` : `slipway/${slug}`,
  };
}

function special(deployment: Reported): string | undefined {
  const { held, pullRequest, status } = deployment;
  if (isEnded(deployment)) return "The preview has ended";
  if (status !== "queued" || !held || !pullRequest) return undefined;
  return pullRequest.fork ? "Waiting for the approval of an admin" : "Waiting for an approval";
}

function isEnded(deployment: Reported): boolean {
  return deployment.environment === "preview" && deployment.status === "ready" && !servesAsPreview(deployment);
}
