/** Awaits a promise with a timeout in milliseconds, after which it rejects. */
export async function withTimeout<T>(ms: number, promise: PromiseLike<T>): Promise<T> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => limit.reject(new Error("no answer in time")), ms);
  try {
    return await Promise.race([promise, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}
