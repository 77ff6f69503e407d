import { Failure } from "../../domain/failure.ts";

/** Refuses folders of the host as a source in cloud mode, for every caller. */
export function refuseLocalSource({ localSources }: { readonly localSources: { readonly mode: string } }) {
  return function (): void {
    if (localSources.mode !== "cloud") return;
    throw new Failure(
      "forbidden",
      "local_source_forbidden",
      "Cannot deploy from the host's own folders in cloud mode: upload the folder or link a repository",
    );
  };
}
