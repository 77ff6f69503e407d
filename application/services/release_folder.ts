import type { Deployment } from "../../domain/deployments/deployment.ts";
import { type Failure, invalid } from "../../domain/failure.ts";
import type { ReleaseFolders } from "../../ports/deployments/release_folders.ts";

interface ReleasePorts {
  readonly releaseFolders: Pick<ReleaseFolders, "find">;
}

/** The folder of the release that a deployment runs. */
export async function folderOf({
  deployment,
  ports,
}: {
  readonly deployment: Deployment;
  readonly ports: ReleasePorts;
}): Promise<string> {
  const folder = await ports.releaseFolders.find(deployment.artifactOf ?? deployment.id);
  if (!folder) throw artifactGone();
  return folder.path;
}

/** The working directory for the commands of a part of a release. */
export function workingFolder(folder: string, { rootDirectory }: { readonly rootDirectory: string | null }): string {
  return rootDirectory ? `${folder}/${rootDirectory}` : folder;
}

/** The failure for a release whose files are gone. */
export function artifactGone(): Failure {
  return invalid(
    "artifact_gone",
    "Cannot continue: the files of that release are gone, and there is no commit to rebuild",
  );
}
