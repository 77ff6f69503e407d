import type { Attempts } from "../../ports/identity/attempts.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { IdempotentAnswers } from "../../ports/system/idempotent_answers.ts";
import type { Sessions } from "../../ports/identity/sessions.ts";
import type { UploadFiles } from "../../ports/projects/upload_files.ts";
import type { UploadSessions } from "../../ports/projects/upload_sessions.ts";

const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;

export interface SweepPorts {
  readonly attempts: Attempts;
  readonly clock: Clock;
  readonly idempotentAnswers: IdempotentAnswers;
  readonly sessions: Sessions;
}

/** Removes expired sessions, counted attempts and stored idempotent responses. */
export function sweep({ attempts, clock, idempotentAnswers, sessions }: SweepPorts) {
  return async function (): Promise<void> {
    await sessions.sweep(clock.now());
    await attempts.sweep(HOUR_MS);
    await idempotentAnswers.sweep(DAY_MS);
  };
}

export interface SweepUploadsPorts {
  readonly clock: Clock;
  readonly uploadFiles: UploadFiles;
  readonly uploadSessions: UploadSessions;
}

/** Removes expired upload sessions with their files, and orphaned files that a killed process left. */
export function sweepUploads({ clock, uploadFiles, uploadSessions }: SweepUploadsPorts) {
  return async function (): Promise<void> {
    const now = clock.now();
    const old: string[] = [];
    for await (const { id, changedAt } of uploadFiles.stored()) {
      if (changedAt.getTime() < now.getTime() - 3 * HOUR_MS) old.push(id);
    }
    for (const id of await uploadSessions.sweep(old)) await uploadFiles.discard(id);
  };
}
