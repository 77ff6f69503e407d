import type { BackupDestination } from "./destination.ts";

const DAY_MS = 86_400_000;

/**
 * Returns the cutoff time: an unfinished write to the destination is abandoned when nothing was added to it since then.
 * The cutoff is one day ago, or one week for a bucket without a prefix, which may be shared with programs whose uploads
 * look the same as Slipway's.
 */
export function abandonedBefore({ kind, pathPrefix }: Pick<BackupDestination, "kind" | "pathPrefix">, now: Date): Date {
  const days = kind === "s3_compatible" && pathPrefix === null ? 7 : 1;
  return new Date(now.getTime() - days * DAY_MS);
}
