import type { Project } from "../projects/project.ts";
import type { Deployment } from "./deployment.ts";

const PREVIEW = /-(?:v|pr)\d+-[a-z0-9]{6}$/;

/**
 * Returns the label under the base domain that routes to a preview of a project. All previews of a pull request share
 * one, so that its address stays the same.
 */
export function previewLabel(
  { id, slug }: Pick<Project, "id" | "slug">,
  { pullRequest, version }: Pick<Deployment, "pullRequest" | "version">,
): string {
  return `${slug}-${pullRequest ? `pr${pullRequest.number}` : `v${version}`}-${id.slice(-6)}`;
}

/**
 * Returns whether a label looks like a preview's. These cannot be claimed, because they are predictable: the address of
 * one preview reveals those of all later ones.
 */
export function isPreviewLabel(label: string): boolean {
  return PREVIEW.test(label);
}
