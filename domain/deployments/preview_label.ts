import type { Project } from "../projects/project.ts";

const PREVIEW = /-v\d+-[a-z0-9]{6}$/;

/** Returns the label under the base domain that routes to a preview of a project. */
export function previewLabel({ id, slug }: Pick<Project, "id" | "slug">, version: number): string {
  return `${slug}-v${version}-${id.slice(-6)}`;
}

/**
 * Returns whether a label looks like a preview's. These cannot be claimed, because they are predictable: the address of
 * one preview reveals those of all later ones.
 */
export function isPreviewLabel(label: string): boolean {
  return PREVIEW.test(label);
}
