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
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  aborted.catch(() => {});
  const abort = () => reject(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    let bytes = 0;
    // Not only asked to stop: a source that does not answer must not hold up whoever gave up on it.
    for (;;) {
      const { done, value } = await Promise.race([aborted, reader.read()]);
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
