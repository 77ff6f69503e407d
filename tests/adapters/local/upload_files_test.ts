import { setDefaultTimeout } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalUploadFiles } from "../../../adapters/local/upload_files.ts";
import { MemoryUploadFiles } from "../../../adapters/memory/upload_files.ts";
import { uploadFilesContract } from "../../contracts/upload_files.ts";

// Other test suites may keep the disk and the CPUs busy.
setDefaultTimeout(30_000);

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
