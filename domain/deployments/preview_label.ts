import type { Project } from "../projects/project.ts";

const PREVIEW = /-v\d+-[a-z0-9]{6}$/;

/** The label under the base domain that leads to a preview of a project. */
export function previewLabel({ id, slug }: Pick<Project, "id" | "slug">, version: number): string {
  return `${slug}-v${version}-${id.slice(-6)}`;
}

/** Tells whether a label looks like that of a preview. Nobody may claim one: whoever knows the address of one preview knows those of all later ones. */
export function isPreviewLabel(label: string): boolean {
  return PREVIEW.test(label);
}
