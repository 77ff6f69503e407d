import { invalid } from "../../../../domain/failure.ts";
import type { Run } from "../run.ts";

/** Runs work under the build timeout; rejects with an `invalid` failure, code `build_timeout`, when it expires. */
export async function withBuildTimeout<T>(
  { settings }: Pick<Run, "settings">,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
  ended: AbortSignal,
): Promise<T> {
  const timeout = AbortSignal.timeout(settings.buildTimeoutMs);
  try {
    return await work(AbortSignal.any([ended, timeout]));
  } catch (error) {
    if (!timeout.aborted || ended.aborted) throw error;
    const seconds = Math.round(settings.buildTimeoutMs / 1000);
    throw invalid("build_timeout", `Cannot ${what}: it took longer than ${seconds} seconds (BUILD_TIMEOUT_SECONDS)`);
  }
}
