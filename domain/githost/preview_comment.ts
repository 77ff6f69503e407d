import type { Deployment, DeploymentStatus } from "../deployments/deployment.ts";
import { servesAsPreview } from "../deployments/transitions.ts";
import type { Project } from "../projects/project.ts";
import { firstSentence } from "./first_sentence.ts";

const STATUSES: Readonly<Record<DeploymentStatus, string>> = {
  queued: "Waiting for its turn",
  building: "Building",
  deploying: "Deploying",
  ready: "Ready",
  failed: "Failed",
  partial_failure: "Failed",
  rejected: "Failed",
  cancelled: "Cancelled",
  superseded: "Superseded by a newer commit",
};
const ENDED = "Ended";
const LONGEST_REASON = 300;

/** Returns the text that marks the comment of a project, so that it is found again. Readers do not see it. */
export function previewMarker({ id }: Pick<Project, "id">): string {
  return `<!-- slipway preview ${id} -->`;
}

/**
 * Returns the comment about the preview of a pull request, in Markdown: its status, its address while it has one, and the
 * commit.
 */
export function previewComment(project: Pick<Project, "id" | "name">, ofPullRequest: readonly Deployment[]): string {
  const newestFirst = ofPullRequest.toSorted((a, b) => b.version - a.version);
  const [newest] = newestFirst;
  const serving = newestFirst.find(servesAsPreview);
  const rows = newest
    ? [
        ["Status", statusOf(newest)],
        ["Commit", commitOf(newest)],
        ...(serving ? [["Address", addressOf(serving, newest)]] : []),
        ["Deployment", code(newest.id)],
      ]
    : [["Status", ENDED]];
  const table = rows.map(([name, value]) => `| ${name} | ${value} |`);
  return [previewMarker(project), `### Preview of ${code(project.name)}`, "", "| | |", "|---|---|", ...table].join(
    "\n",
  );
}

function statusOf(deployment: Deployment): string {
  const { error, held, pullRequest, status } = deployment;
  if (status === "ready" && !servesAsPreview(deployment)) return ENDED;
  if (status === "queued" && held)
    return `Waiting for ${pullRequest?.fork ? "the approval of an admin, because it comes from a fork" : "an approval"}`;
  const reason = status === "failed" && error ? firstSentence(error.message, LONGEST_REASON) : "";
  return `${STATUSES[status]}${reason && `: ${code(reason)}`}`;
}

function addressOf(serving: Deployment, newest: Deployment): string {
  const url = serving.urls[0];
  const address = url ?? "none: nothing of it is public";
  return serving.id === newest.id ? address : `${address} (still ${commitOf(serving)})`;
}

function commitOf({ commitSha }: Deployment): string {
  return code(commitSha?.slice(0, 12) ?? "unknown");
}

/** Text as code, so that nothing in it is taken for Markdown or mentions anybody. */
function code(text: string): string {
  return `\`${text.replaceAll(/[`|\p{Cc}]+/gu, " ").trim()}\``;
}
