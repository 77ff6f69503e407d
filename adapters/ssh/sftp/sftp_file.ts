import type { SftpSession } from "./sftp_session.ts";

/** Block size in bytes that every server accepts in one request. */
const BLOCK = 31 * 1024;
/** Pipelined requests, so that latency does not limit throughput. */
const AT_ONCE = 64;

/** Writes a file from its beginning with pipelined requests. */
export class SftpWriter {
  readonly #session: SftpSession;
  readonly #handle: Buffer;
  readonly #signal: AbortSignal | undefined;
  readonly #waiting = new Set<Promise<void>>();
  #position = 0;
  #failed: { readonly error: unknown } | undefined;

  constructor(session: SftpSession, handle: Buffer, signal: AbortSignal | undefined) {
    this.#session = session;
    this.#handle = handle;
    this.#signal = signal;
  }

  /** Writes a chunk. Resolves when more may be written (backpressure). */
  async write(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length; at += BLOCK) {
      while (this.#waiting.size >= AT_ONCE) await Promise.race(this.#waiting);
      this.#rethrow();
      this.#send(chunk.subarray(at, at + BLOCK));
    }
  }

  /** Resolves when all writes are acknowledged. */
  async finish(): Promise<void> {
    await Promise.all(this.#waiting);
    this.#rethrow();
  }

  #send(block: Uint8Array): void {
    const sent = this.#session
      .write(this.#handle, block, this.#position, this.#signal)
      .catch((error: unknown) => void (this.#failed ??= { error }))
      .finally(() => this.#waiting.delete(sent));
    this.#waiting.add(sent);
    this.#position += block.length;
  }

  #rethrow(): void {
    if (this.#failed) throw this.#failed.error;
  }
}

/**
 * Reads a file of the given size in order with pipelined requests. Ignores bytes appended meanwhile, except those
 * within the last block.
 */
export async function* readBlocks(
  session: SftpSession,
  handle: Buffer,
  { size, signal }: { readonly size: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<Uint8Array> {
  const waiting: Promise<Uint8Array>[] = [];
  let requested = 0;
  for (;;) {
    while (waiting.length < AT_ONCE && requested < size) {
      const block = readBlock(session, handle, { position: requested, signal });
      block.catch(() => {});
      waiting.push(block);
      requested += BLOCK;
    }
    const next = await waiting.shift();
    if (next === undefined || next.length === 0) return;
    yield next;
  }
}

/** Reads one block, even if it arrives in pieces. It is shorter only at the end of the file. */
async function readBlock(
  session: SftpSession,
  handle: Buffer,
  { position, signal }: { readonly position: number; readonly signal: AbortSignal | undefined },
): Promise<Uint8Array> {
  const block = Buffer.allocUnsafeSlow(BLOCK);
  let filled = 0;
  while (filled < BLOCK) {
    const bytes = await session.read(handle, block.subarray(filled), position + filled, signal);
    if (bytes === 0) break;
    filled += bytes;
  }
  return block.subarray(0, filled);
}
