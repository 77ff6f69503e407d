import type { UnreadableFile } from "../../../ports/servers/server_connections.ts";
import { STATUS, statusOf } from "../sftp/sftp_failure.ts";
import type { SftpSession } from "../sftp/sftp_session.ts";

const BLOCK = 31 * 1024;

/** Reads a file of at most `maxBytes` over SFTP, or returns why not. Rejects with the error of a broken connection. */
export async function readRemoteFile(
  session: SftpSession,
  path: string,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<Uint8Array | UnreadableFile> {
  try {
    // Before it is opened: opening a pipe would wait for a writer.
    const stats = await session.statTarget(path, signal);
    if (!stats.isFile()) return "no_file";
    // Files of the kernel claim to be empty, and reading some of them waits for ever.
    if (stats.size === 0) return new Uint8Array();
    const handle = await session.open(path, "r", signal);
    try {
      return await content(session, handle, { maxBytes, signal });
    } finally {
      // Not awaited after an abort: a server that is stuck in a read answers nothing else.
      const closed = session.close(handle).catch(() => {});
      if (!signal?.aborted) await closed;
    }
  } catch (error) {
    const status = statusOf(error);
    if (status === STATUS.absent) return "absent";
    if (status === STATUS.denied) return "forbidden";
    if (status === STATUS.failure) return "no_file";
    throw error;
  }
}

async function content(
  session: SftpSession,
  handle: Buffer,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal | undefined },
): Promise<Uint8Array | UnreadableFile> {
  const blocks: Uint8Array[] = [];
  for (let size = 0; ;) {
    const block = Buffer.allocUnsafeSlow(BLOCK);
    const bytes = await session.read(handle, block, size, signal);
    if (bytes === 0) return Buffer.concat(blocks);
    size += bytes;
    if (size > maxBytes) return "too_large";
    blocks.push(block.subarray(0, bytes));
  }
}
