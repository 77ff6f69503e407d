import { invalidField } from "../failure.ts";

/** Whether and how long the pull requests of a project's repository have previews. */
export interface PreviewSettings {
  readonly enabled: boolean;
  /** How many pull requests have a preview at a time. */
  readonly max: number;
  /** How long a preview stays after its deployment. */
  readonly ttlHours: number;
}

export const PREVIEW_DEFAULTS: PreviewSettings = { enabled: false, max: 5, ttlHours: 168 };
export const PREVIEW_LIMITS = { max: 50, ttlHours: 8_760 } as const;

/** Throws for numbers of previews or hours that are out of range. */
export function checkPreviews(previews: PreviewSettings): void {
  for (const field of ["max", "ttlHours"] as const) {
    const value = previews[field];
    if (!Number.isInteger(value) || value < 1 || value > PREVIEW_LIMITS[field])
      throw invalidField(`previews.${field}`, `give a whole number from 1 to ${PREVIEW_LIMITS[field]}`);
  }
}
