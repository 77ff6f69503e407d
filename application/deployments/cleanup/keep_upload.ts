import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { Failure } from "../../../domain/failure.ts";
import type { KeptSources } from "../../../ports/projects/kept_sources.ts";
import type { Sources } from "../../../ports/projects/sources.ts";
import type { UploadFiles } from "../../../ports/projects/upload_files.ts";
import { dropUpload } from "./drop_upload.ts";

export interface KeepUploadPorts {
  readonly keptSources: KeptSources;
  readonly sources: Sources;
  readonly uploadFiles: UploadFiles;
}

/**
 * Keeps the uploaded files of a deployment that ended before they were fetched, so that it can be built again, and
 * discards the upload.
 */
export async function keepUpload(ports: KeepUploadPorts, deployment: Pick<Deployment, "id" | "source">): Promise<void> {
  await copyUpload(ports, deployment);
  await dropUpload(ports, deployment);
}

/**
 * Keeps the uploaded files of a deployment that is about to end before they are fetched. Once it has ended, they may be
 * swept.
 */
export async function copyUpload(
  { keptSources, sources }: Pick<KeepUploadPorts, "keptSources" | "sources">,
  { id, source }: Pick<Deployment, "id" | "source">,
): Promise<void> {
  if (source.kind !== "upload" || (await keptSources.has(id))) return;
  const { signal } = new AbortController();
  const fill = async (folder: string) =>
    void (await sources.fetch(source, { folder, signal, shared: true, log: () => {} }));
  await keptSources.keep(id, fill).catch((error: unknown) => {
    if (!isGone(error)) throw error;
  });
}

function isGone(error: unknown): boolean {
  return error instanceof Failure && error.code === "upload_gone";
}
