import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { UploadFiles } from "../../ports/projects/upload_files.ts";

/** Gives up the uploaded files of a deployment that has a release folder of its own by now, or needs none any more. */
export async function dropUpload(
  { uploadFiles }: { readonly uploadFiles: UploadFiles },
  { source }: Pick<Deployment, "source">,
): Promise<void> {
  if (source.kind === "upload") await uploadFiles.discard(source.uploadId);
}
