/**
 * Passes a stream to `take` chunk by chunk, with backpressure, and resolves to its size in bytes. Rejects with the
 * stream's own error, the signal's reason or the error of `take`, and then cancels the stream.
 */
export async function drainStream(
  content: ReadableStream<Uint8Array>,
  take: (chunk: Uint8Array) => Promise<void> | void,
  signal?: AbortSignal | undefined,
): Promise<number> {
  const reader = content.getReader();
  // Also ends a pending read. Racing every read against the abort would retain every chunk until the end.
  const abort = () => void reader.cancel(signal?.reason).catch(() => {});
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    let bytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) return bytes;
      await take(value);
      bytes += value.length;
    }
  } catch (error) {
    void reader.cancel(error).catch(() => {});
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}
