import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalUploadFiles } from "../../adapters/local/upload_files.ts";
import { MemoryUploadFiles } from "../../adapters/memory/upload_files.ts";
import { uploadFilesContract } from "../contracts/upload_files.ts";

uploadFilesContract("memory", async () => ({
  files: new MemoryUploadFiles(),
  async [Symbol.asyncDispose]() {},
}));

uploadFilesContract("local", async () => {
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  return {
    files: new LocalUploadFiles(join(folder, "uploads")),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
});
