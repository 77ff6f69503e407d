import type { ServiceSpec } from "./service_spec.ts";

/** A service as a deployment runs it. */
export interface ServiceRecord {
  readonly spec: ServiceSpec;
  /** The digest of the image it runs; `null` for what runs from a folder. */
  readonly image: string | null;
  /** The digest of the files and settings that it was made from; `null` when nothing of the source went into it. */
  readonly madeFrom: string | null;
  /** Whose release folder has the files it runs with, where that is another's: that of the version that is back because a later one did not come up. */
  readonly filesOf?: string;
  /** Why there is nothing of it to run: it could not be built, or its image could not be pulled. */
  readonly failure?: BuildFailure;
}

/** Why a service could not be built, without secrets. */
export interface BuildFailure {
  readonly code: string;
  readonly message: string;
}

/** What a deployment consists of. */
export interface ServiceSet {
  /** The services as somebody gave them, before anything was recognised; `null` when the source tells. */
  readonly given: readonly ServiceSpec[] | null;
  /** What is to run; empty before it is known. */
  readonly wanted: readonly ServiceRecord[];
  /** What runs where some of it did not come up; `null` when all of it did. */
  readonly instead: readonly ServiceRecord[] | null;
}

/** What runs of a deployment. */
export function recordsIn({ instead, wanted }: ServiceSet): readonly ServiceRecord[] {
  return instead ?? wanted;
}
