import type { Secret } from "../../domain/secret.ts";

/** Commands that make a release folder runnable. */
export interface BuildRequest {
  readonly deploymentId: string;
  readonly folder: string;
  readonly workingFolder: string;
  /** Install, then build; each run by a shell of its own in the working folder. */
  readonly commands: readonly { readonly name: "install" | "build"; readonly command: string }[];
  readonly environment: ReadonlyMap<string, Secret>;
  /** Builds of the same key find what their package manager has kept; without one each starts with nothing. */
  readonly cacheKey?: string;
  readonly signal: AbortSignal;
  /** Takes a line; a promise asks to read on only once it resolved, so that output never piles up in memory. */
  readonly log: (line: string, stream: "stdout" | "stderr") => void | Promise<void>;
}

/** Builds in a release folder. */
export interface Builder {
  /**
   * Runs the commands one after the other. Rejects with an `invalid` failure, code `build_failed`, naming the command and its exit code, or the
   * program that it calls and that is not there; aborting ends every process it started, children included, before it rejects.
   */
  build(request: BuildRequest): Promise<void>;
}
