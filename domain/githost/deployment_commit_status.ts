import type { Deployment, DeploymentStatus } from "../deployments/deployment.ts";
import type { Project } from "../projects/project.ts";
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

/**
 * Returns the commit status that reports a deployment. A failure is described by the first sentence of its error, which
 * contains no secrets; a success links to the deployment's address, else to the project's.
 */
export function deploymentCommitStatus(
  { environment, error, status, urls }: Pick<Deployment, "environment" | "error" | "status" | "urls">,
  { slug, url }: Pick<Project, "slug"> & { readonly url: string },
): CommitStatus {
  const [state, usual] = STATES[status];
  return {
    state,
    description: (state === "failure" && error && firstSentence(error.message)) || usual,
    targetUrl: state === "success" ? (urls[0] ?? url) : null,
    context: environment === "preview" ? `slipway/${slug}/preview` : `slipway/${slug}`,
  };
}

/** Returns the first sentence of a text on one line, cut to what a description may hold. */
function firstSentence(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  const sentence = (line.split(/\. /, 1)[0] ?? "").replace(/\.$/, "");
  if (sentence.length <= MAX_DESCRIPTION) return sentence;
  // Not in the middle of a character.
  return `${sentence.slice(0, MAX_DESCRIPTION - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
