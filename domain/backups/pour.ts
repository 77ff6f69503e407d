/**
 * Hands a stream over chunk by chunk, the next one when the last was taken, and resolves to its size. Rejects with the stream's own error, with the signal's reason, or
 * with what `take` rejects with; the stream is cancelled then.
 */
export async function pour(
  content: ReadableStream<Uint8Array>,
  take: (chunk: Uint8Array) => Promise<void> | void,
  signal?: AbortSignal | undefined,
): Promise<number> {
  const reader = content.getReader();
  // Ends a read that waits, too. Racing every read against the abort instead would keep every chunk until the end.
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
