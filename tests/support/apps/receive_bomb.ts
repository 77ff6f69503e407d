import { createGzip } from "node:zlib";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalUploadFiles } from "../../../adapters/local/upload_files.ts";
import { Failure } from "../../../domain/failure.ts";
import { tarEntry } from "../inputs/tar_archive.ts";

/**
 * Receives a gzipped tar bomb of zeros, generated on the fly, and prints the outcome and by how many bytes the memory
 * (RSS) of this process grew. Runs as a separate process: `receive_bomb.ts FILE_BYTES MAX_UNPACKED_BYTES`.
 */
const [fileBytes = 0, maxUnpackedBytes = 0] = process.argv.slice(2).map(Number);
const PIECE = Buffer.alloc(1024 * 1024);

function bomb(): ReadableStream<Uint8Array> {
  const gzip = createGzip();
  const write = (bytes: Uint8Array) => new Promise((resolve) => gzip.write(bytes, resolve));
  void (async () => {
    await write(tarEntry({ name: "zeros", size: fileBytes }));
    for (let written = 0; written < fileBytes && !gzip.destroyed; written += PIECE.length) await write(PIECE);
    gzip.end(Buffer.alloc(1024));
  })();
  const pieces = gzip[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value as Uint8Array);
      },
      cancel: () => void gzip.destroy(),
    },
    { highWaterMark: 0 },
  );
}

const folder = await mkdtemp(join(tmpdir(), "slipway-"));
const before = process.memoryUsage.rss();
let peak = before;
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 10);
const outcome = await new LocalUploadFiles(folder)
  .receive("upl_bomb", bomb(), { limits: { maxBytes: 50_000_000, maxUnpackedBytes, maxEntries: 10 } })
  .then(
    ({ files }) => `${files} files`,
    (error: unknown) => (error instanceof Failure ? error.code : String(error)),
  );
clearInterval(watch);
await rm(folder, { recursive: true });
process.stdout.write(JSON.stringify({ outcome, growth: Math.max(peak, process.memoryUsage.rss()) - before }));
process.exit();
