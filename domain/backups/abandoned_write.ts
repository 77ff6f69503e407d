import type { BackupDestination } from "./destination.ts";

const DAY_MS = 86_400_000;

/**
 * An unfinished write to a destination is abandoned when nothing was added to it since this time: for a day. A bucket
 * without a prefix may be shared with programs whose uploads look the same as Slipway's, so there it is a week.
 */
export function abandonedBefore({ kind, pathPrefix }: Pick<BackupDestination, "kind" | "pathPrefix">, now: Date): Date {
  const days = kind === "s3_compatible" && pathPrefix === null ? 7 : 1;
  return new Date(now.getTime() - days * DAY_MS);
}
