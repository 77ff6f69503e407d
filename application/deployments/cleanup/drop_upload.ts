import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { UploadFiles } from "../../../ports/projects/upload_files.ts";

/** Discards the uploaded files of a deployment that has its own release folder by now, or no longer needs one. */
export async function dropUpload(
  { uploadFiles }: { readonly uploadFiles: UploadFiles },
  { source }: Pick<Deployment, "source">,
): Promise<void> {
  if (source.kind === "upload") await uploadFiles.discard(source.uploadId);
}
