import type { FetchableSource, FetchedSource, FetchTarget, Sources } from "../../ports/projects/sources.ts";
import type { UploadFiles } from "../../ports/projects/upload_files.ts";

/** Takes what was uploaded; the upload stays, so that a broken-off deployment can start again. */
export class UploadSources implements Sources<"upload"> {
  readonly #files: Pick<UploadFiles, "copyTo">;

  constructor(files: Pick<UploadFiles, "copyTo">) {
    this.#files = files;
  }

  async fetch(
    { uploadId }: Extract<FetchableSource, { kind: "upload" }>,
    { folder, signal, shared = false, log }: FetchTarget,
  ): Promise<FetchedSource> {
    await this.#files.copyTo(uploadId, folder, { signal, shared });
    await log("Took the uploaded folder", "stdout");
    return { commitSha: null, commitMessage: null };
  }
}
