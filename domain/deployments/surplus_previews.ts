import type { PreviewSettings } from "../projects/previews.ts";
import type { Deployment } from "./deployment.ts";
import { servesAsPreview } from "./transitions.ts";

const HOUR_MS = 3_600_000;

/** Which previews of a project may stay. */
export interface PreviewRules {
  /** How many of those that were requested are kept; at least one is. */
  readonly window: number;
  /** The rules for those of pull requests. */
  readonly pullRequests: PreviewSettings;
  /** The numbers of the pull requests that are closed. */
  readonly closed: ReadonlySet<number>;
  readonly now: Date;
}

/**
 * Returns the previews of a project that have to end: of those that were requested, the oldest beyond the window; of pull
 * requests, all but the newest of each open one, those that are too old, and the oldest beyond the maximum. Pinned ones
 * stay and do not count, except that a newer push to a pull request replaces any former one: they share an address.
 */
export function surplusPreviews(ofProject: readonly Deployment[], rules: PreviewRules): readonly Deployment[] {
  const newestFirst = ofProject
    .filter((deployment) => servesAsPreview(deployment) || isBecomingPreview(deployment))
    .toSorted((a, b) => finished(b) - finished(a));
  const requested = newestFirst.filter(({ pinned, pullRequest }) => !pullRequest && !pinned);
  return [...requested.slice(Math.max(1, rules.window)), ...ofPullRequests(newestFirst, rules)];
}

function ofPullRequests(
  newestFirst: readonly Deployment[],
  { closed, pullRequests: { enabled, max, ttlHours }, now }: PreviewRules,
): readonly Deployment[] {
  const seen = new Set<number>();
  let kept = 0;
  return newestFirst.filter(({ finishedAt, pinned, pullRequest }) => {
    if (!pullRequest) return false;
    const { number } = pullRequest;
    const isReplaced = seen.has(number);
    seen.add(number);
    if (isReplaced || pinned) return isReplaced;
    const isOld = finishedAt !== null && now.getTime() - finishedAt.getTime() >= ttlHours * HOUR_MS;
    const stays = enabled && !closed.has(number) && !isOld && kept < max;
    if (stays) kept++;
    return !stays;
  });
}

/** Whether a preview serves already and has only cleanup left. */
function isBecomingPreview({ environment, status, steps }: Deployment): boolean {
  const served = steps.some((step) => step.name === "switch" && step.status === "done");
  return environment === "preview" && status === "deploying" && served;
}

function finished({ finishedAt }: Deployment): number {
  return finishedAt?.getTime() ?? Number.MAX_SAFE_INTEGER;
}
