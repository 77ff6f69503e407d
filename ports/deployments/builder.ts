import type { Secret } from "../../domain/secret.ts";

/** Commands that make a release folder runnable. */
export interface BuildRequest {
  readonly deploymentId: string;
  readonly folder: string;
  readonly workingFolder: string;
  /** Install, then build. Each runs in its own shell in the working folder. */
  readonly commands: readonly { readonly name: "install" | "build"; readonly command: string }[];
  readonly environment: ReadonlyMap<string, Secret>;
  /**
   * Builds with the same key share the cache of their package manager. Without a key a build starts with an empty
   * cache.
   */
  readonly cacheKey?: string;
  readonly signal: AbortSignal;
  /**
   * Receives a line. A returned promise applies backpressure until it resolves, so that output never piles up in
   * memory.
   */
  readonly log: (line: string, stream: "stdout" | "stderr") => void | Promise<void>;
}

/** Builds inside a release folder. */
export interface Builder {
  /**
   * Runs the commands one after the other. Rejects with an `invalid` failure, code `build_failed`, that names the
   * command and its exit code, or the missing program that it calls. Aborting ends every process it started, children
   * included, before it rejects.
   */
  build(request: BuildRequest): Promise<void>;
}
