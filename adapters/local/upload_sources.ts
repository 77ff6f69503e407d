import { type Commit, NO_COMMIT } from "../../domain/deployments/commit.ts";
import type { FetchableSource, FetchTarget, Sources } from "../../ports/projects/sources.ts";
import type { UploadFiles } from "../../ports/projects/upload_files.ts";

/** Fetches an uploaded folder; the upload stays, so that an interrupted deployment can be retried. */
export class UploadSources implements Sources<"upload"> {
  readonly #files: Pick<UploadFiles, "copyTo">;

  constructor(files: Pick<UploadFiles, "copyTo">) {
    this.#files = files;
  }

  async fetch(
    { uploadId }: Extract<FetchableSource, { kind: "upload" }>,
    { folder, signal, shared = false, log }: FetchTarget,
  ): Promise<Commit> {
    await this.#files.copyTo(uploadId, folder, { signal, shared });
    await log("Received the uploaded folder", "stdout");
    return NO_COMMIT;
  }
}
