import type { Deployment } from "../../domain/deployment/deployment.ts";
import { Failure } from "../../domain/failure.ts";
import type { KeptSources } from "../../ports/kept_sources.ts";
import type { Sources } from "../../ports/sources.ts";
import type { UploadFiles } from "../../ports/upload_files.ts";
import { dropUpload } from "./drop_upload.ts";

export interface KeepUploadPorts {
  readonly keptSources: KeptSources;
  readonly sources: Sources;
  readonly uploadFiles: UploadFiles;
}

/** Keeps the uploaded files of a deployment that ended before they were fetched, so that it can be built again. */
export async function keepUpload(
  ports: KeepUploadPorts,
  { id, source }: Pick<Deployment, "id" | "source">,
): Promise<void> {
  const { keptSources, sources } = ports;
  if (source.kind !== "upload") return;
  if (!(await keptSources.has(id))) {
    const { signal } = new AbortController();
    const fill = async (folder: string) =>
      void (await sources.fetch(source, { folder, signal, shared: true, log: () => {} }));
    await keptSources.keep(id, fill).catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
  }
  await dropUpload(ports, { source });
}

function isGone(error: unknown): boolean {
  return error instanceof Failure && error.code === "upload_gone";
}
