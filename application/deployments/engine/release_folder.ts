import type { Deployment } from "../../../domain/deployment/deployment.ts";
import { type Failure, invalid } from "../../../domain/failure.ts";
import type { ReleaseFolders } from "../../../ports/release_folders.ts";
import type { Runnable } from "../../../ports/runtime.ts";

interface ReleasePorts {
  readonly releaseFolders: ReleaseFolders;
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

/** The folder of a release that its commands run in. */
export function workingFolder(folder: string, { plan }: Deployment): string {
  return plan.rootDirectory ? `${folder}/${plan.rootDirectory}` : folder;
}

/** What an instance of a deployment is started from. */
export async function runnableOf(ports: ReleasePorts, deployment: Deployment): Promise<Runnable> {
  const { image, plan } = deployment;
  if (image !== null) {
    // A generated image starts the program by itself; a Dockerfile's is started otherwise only when somebody says so.
    const command = plan.projectType === "docker" ? plan.startCommand : null;
    return { kind: "image", image, command, port: plan.port ?? 8080 };
  }
  const folder = await folderOf({ deployment, ports });
  return { kind: "folder", folder, workingFolder: workingFolder(folder, deployment), command: plan.startCommand ?? "" };
}

/** The failure of a release whose files are gone. */
export function artifactGone(): Failure {
  return invalid(
    "artifact_gone",
    "Cannot go on: the files of that release are gone, and there is no commit to build anew",
  );
}
