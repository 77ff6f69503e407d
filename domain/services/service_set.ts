import type { ServiceSpec } from "./service_spec.ts";

/** A service as a deployment runs it. */
export interface ServiceRecord {
  readonly spec: ServiceSpec;
  /** The digest of the image it runs; `null` if it runs from a folder. */
  readonly image: string | null;
  /** The digest of the files and settings it was built from; `null` if nothing of the source went into it. */
  readonly madeFrom: string | null;
  /**
   * The deployment whose release folder has its files, if not its own: it was restored after a later version failed to
   * start.
   */
  readonly filesOf?: string;
  /** Why there is nothing to run: the build failed, or the image could not be pulled. */
  readonly failure?: BuildFailure;
}

/** Why a service could not be built, without secrets. */
export interface BuildFailure {
  readonly code: string;
  readonly message: string;
}

/** The services of a deployment. */
export interface ServiceSet {
  /** The services of the request, before detection; `null` if they come from the source. */
  readonly given: readonly ServiceSpec[] | null;
  /** The services that should run; empty until known. */
  readonly wanted: readonly ServiceRecord[];
  /** The services that run instead if some failed to start; `null` if all started. */
  readonly instead: readonly ServiceRecord[] | null;
}

/** Returns the services that a deployment actually runs. */
export function recordsIn({ instead, wanted }: ServiceSet): readonly ServiceRecord[] {
  return instead ?? wanted;
}
